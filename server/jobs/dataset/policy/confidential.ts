import { PolicyBlockError } from '../../../../domain/errors.ts'
import { preview } from '../../../../domain/strictJson.ts'
import type { Declared, ParsedText } from '../parsedText.ts'
import { confidentialLine, isConfidentialLevel } from './confidentialLine.ts'

type Marked = Pick<ParsedText, 'text' | 'declared'>
type Mark = { readonly rule: string; readonly line: number | null }

/** About as much as a first page holds. */
const firstPageCharacters = 6_000
/** Lines from the start, not counting blank ones, where even one plain word is a mark. */
const titleLines = 5
/** What stands so often on a line of its own is a header or footer. */
const repeatsMin = 3

/**
 * The mark by which a document says that it is confidential, as a sentence: a declaration, or a line of its own on
 * the first page, at the end, or repeated as headers and footers are. Null where there is none.
 */
export const confidentialMark = (parsed: Marked): string | null => findMark(parsed)?.rule ?? null

/** Raises `PolicyBlockError` naming document, line and mark where the document is marked confidential. */
export const refuseConfidential = (name: string, parsed: Marked): void => {
  const mark = findMark(parsed)
  if (mark === null) return
  const place = mark.line === null ? name : `${name}:${mark.line}`
  throw new PolicyBlockError(
    'policy_block',
    `${place}: the document is marked confidential: ${mark.rule}; leave it out, or take the mark off if it is none`,
    { document: name, rule: 'confidential', mark: mark.rule, ...(mark.line === null ? {} : { line: mark.line }) },
  )
}

const findMark = ({ text, declared }: Marked): Mark | null => declaredMark(declared) ?? writtenMark(text)

const levelNames =
  /^(?:(?:security|data|document|information)[-_ ]?)?(?:classification|sensitivity|confidentiality)$|^protective[-_ ]?marking$|^tlp$/
const notConfidential = /^(?:|false|no|n|off|0|none|null|~|public)$/

const declaredMark = (declared: Declared): Mark | null => {
  for (const [name, value] of Object.entries(declared)) {
    const said = value.trim()
    const marked = name === 'confidential' ? !notConfidential.test(said.toLowerCase()) : levelNames.test(name) && isConfidentialLevel(said)
    if (marked) return { rule: `it declares ${name}: ${preview(said, 100)}`, line: null }
  }
  return null
}

type Line = { readonly number: number; readonly start: number; readonly words: string }

const writtenMark = (text: string): Mark | null => {
  const seen = new Map<string, number>()
  let nth = 0
  let last: Mark | null = null
  for (const line of wordedLines(text)) {
    nth += 1
    last = null
    const strength = confidentialLine(line.words)
    if (strength === null) continue
    last = markOf(line)
    if (nth <= titleLines || (strength === 'strong' && line.start < firstPageCharacters)) return last
    const unnumbered = line.words.replace(/\d+/g, '')
    const repeats = (seen.get(unnumbered) ?? 0) + 1
    if (repeats === repeatsMin) return last
    seen.set(unnumbered, repeats)
  }
  return last
}

const markOf = ({ words, number }: Line): Mark => ({ rule: `it says ${JSON.stringify(preview(words, 100))}`, line: number })

function* wordedLines(text: string): Generator<Line> {
  let start = 0
  for (let number = 1; start < text.length; number += 1) {
    const found = text.indexOf('\n', start)
    const end = found === -1 ? text.length : found
    // Longer than any mark: enough to see that it is none.
    const words = text.slice(start, Math.min(end, start + 1_000)).trim()
    if (words !== '') yield { number, start, words }
    start = end + 1
  }
}
