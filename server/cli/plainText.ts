/**
 * The text without what a terminal would obey: names, notes and providers' messages are other people's words.
 * Line breaks become spaces, other control characters are shown by their number.
 */
export const plainText = (text: string): string =>
  text
    .replace(/\s*[\r\n\u2028\u2029]+\s*/g, ' ')
    .replaceAll('\t', ' ')
    .replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (character) => `\\u${hex(character)}`)

const hex = (character: string): string => character.charCodeAt(0).toString(16).padStart(4, '0')
