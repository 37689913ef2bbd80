const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

// Characters that a terminal gives two columns.
const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u

const ascii = /^[\u0020-\u007e]*$/

/** Columns that the text takes on a terminal. */
export const textWidth = (text: string): number =>
  ascii.test(text) ? text.length : charactersOf(text).reduce((sum, character) => sum + widthOf(character), 0)

/** As much of the text as has room in the columns: never half a character. */
export const fitting = (text: string, columns: number): string => {
  if (ascii.test(text)) return text.slice(0, Math.max(0, columns))
  let width = 0
  let kept = ''
  for (const { segment } of graphemes.segment(text)) {
    width += widthOf(segment)
    if (width > columns) break
    kept += segment
  }
  return kept
}

const charactersOf = (text: string): readonly string[] => Array.from(graphemes.segment(text), ({ segment }) => segment)

const widthOf = (character: string): number => (wide.test(character) ? 2 : 1)
