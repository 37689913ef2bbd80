/** A word as a shell reads it back, whatever stands in it. */
export const shellQuoted = (text: string): string =>
  /^[\w:./@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
