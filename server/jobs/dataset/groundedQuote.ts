import type { TextRange } from './chunks/textRange.ts'

/**
 * Where a quote stands within a part of a text: letter for letter, or else but for white space, dashes, kinds of
 * quotation mark, ligatures and the like, invisible characters and Markdown's marks of emphasis, or else also but for
 * case. The first such place; it begins and ends with whole characters, their accents included. Null where there is
 * none. Takes time in proportion to the part and the quote.
 */
export const groundedQuote = (text: string, { start, end }: TextRange, quote: string): TextRange | null => {
  const part = text.slice(start, end)
  const folds = part.includes(quote) ? [asItStands, plain, caseless] : [plain, caseless]
  for (const fold of folds) {
    const found = foundIn(folded(part, fold), folded(quote, fold).units)
    if (found !== null) return { start: start + found.start, end: start + found.end }
  }
  return null
}

type Fold = (character: string) => string

const asItStands: Fold = (character) => character

const marks = /[\s\p{Pd}\u2212*_`~\\\p{Cf}\p{Variation_Selector}]+/gu
const quotationMarks = /[\p{Pi}\p{Pf}"'‚„′″‹›]/gu

const plain: Fold = (character) => character.normalize('NFKD').replace(marks, '').replace(quotationMarks, '"')

/** Upper case first: it alone makes one of the ways to write a letter such as ß or ς. */
const caseless: Fold = (character) => plain(character).toUpperCase().toLowerCase()

/** Whether two quotes differ in nothing but what `groundedQuote` lets pass. */
export const isSameQuote = (one: string, other: string): boolean => folded(one, caseless).units === folded(other, caseless).units

type Folded = {
  readonly units: string
  /** Of each unit, the range of the character that it came from. */
  readonly ranges: readonly TextRange[]
}

/** With its accents, as far as they can be read. A run of accents alone is cut, so that no match overflows the stack. */
const character = /\P{M}\p{M}{0,31}|\p{M}{1,32}/gu

const folded = (text: string, fold: Fold): Folded => {
  const parts: string[] = []
  const ranges: TextRange[] = []
  const known = new Map<string, string>()
  let start = 0
  for (const source of text.match(character) ?? []) {
    const part = known.get(source) ?? fold(source)
    known.set(source, part)
    const range = { start, end: start + source.length }
    start = range.end
    parts.push(part)
    for (let unit = 0; unit < part.length; unit += 1) ranges.push(range)
  }
  return { units: parts.join(''), ranges }
}

/** Knuth, Morris and Pratt's search: no text and quote make it slow. */
const foundIn = ({ units, ranges }: Folded, wanted: string): TextRange | null => {
  if (wanted === '') return null
  const borders = bordersOf(wanted)
  let matched = 0
  for (let at = 0; at < units.length; at += 1) {
    while (matched > 0 && units[at] !== wanted[matched]) matched = borders[matched - 1] ?? 0
    if (units[at] === wanted[matched]) matched += 1
    if (matched < wanted.length) continue
    const first = at - wanted.length + 1
    const [from, to] = [ranges[first], ranges[at]]
    // Half of what one character became is no place to begin or end.
    const isWhole = from !== ranges[first - 1] && to !== ranges[at + 1]
    if (isWhole && from !== undefined && to !== undefined) return { start: from.start, end: to.end }
    matched = borders[matched - 1] ?? 0
  }
  return null
}

/** Of each beginning of a text, how long the longest shorter beginning is that it also ends with. */
const bordersOf = (text: string): readonly number[] => {
  const borders = [0]
  let length = 0
  for (let at = 1; at < text.length; at += 1) {
    while (length > 0 && text[at] !== text[length]) length = borders[length - 1] ?? 0
    if (text[at] === text[length]) length += 1
    borders.push(length)
  }
  return borders
}
