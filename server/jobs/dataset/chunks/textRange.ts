/** A slice of a text: UTF-16 offsets, `end` exclusive. */
export type TextRange = { readonly start: number; readonly end: number }

const isWhite = (text: string, at: number): boolean => /\s/.test(text.charAt(at))

/** The range without the white space at both its ends, or null where nothing else is in it. */
export const trimmed = (text: string, { start, end }: TextRange): TextRange | null => {
  let [from, to] = [start, end]
  while (from < to && isWhite(text, from)) from += 1
  while (to > from && isWhite(text, to - 1)) to -= 1
  return from === to ? null : { start: from, end: to }
}

/** The range cut at each match of `seam`, after it; the parts trimmed, those of white space left out. */
export const cutAt = (text: string, range: TextRange, seam: RegExp): readonly TextRange[] => {
  const parts: TextRange[] = []
  let start = range.start
  const add = (end: number): void => {
    const part = trimmed(text, { start, end })
    if (part !== null) parts.push(part)
    start = end
  }
  for (const match of text.slice(range.start, range.end).matchAll(seam)) add(range.start + match.index + match[0].length)
  add(range.end)
  return parts
}

/** The range cut into windows of at most `unitsMax` UTF-16 units: at white space where there is some, never in a character. */
export const windowsOf = (text: string, range: TextRange, unitsMax: number): readonly TextRange[] => {
  const windows: TextRange[] = []
  for (let start = range.start; start < range.end; ) {
    const end = windowEnd(text, start, Math.min(range.end, start + unitsMax), range.end)
    const window = trimmed(text, { start, end })
    if (window !== null) windows.push(window)
    start = end
  }
  return windows
}

const windowEnd = (text: string, start: number, end: number, last: number): number => {
  if (end === last) return end
  for (let at = end; at > start; at -= 1) if (isWhite(text, at)) return at
  const splitsPair = /[\uDC00-\uDFFF]/.test(text.charAt(end)) && /[\uD800-\uDBFF]/.test(text.charAt(end - 1))
  return splitsPair && end - 1 > start ? end - 1 : end
}
