import type { PersonalData } from '../policy/personalData.ts'
import type { Block } from '../parsedText.ts'
import { cutOnce, divided } from './dividedText.ts'
import type { TextRange } from './textRange.ts'

/** A sentence, line or row that personal data stands in. */
export type PersonalPassage = TextRange & { readonly found: readonly [PersonalData, ...PersonalData[]] }

/** Of a sentence without an end, in UTF-16 units. */
const passageUnitsMax = 600

const passageSize = { sizeMax: passageUnitsMax, sizeOf: (slice: string): number => slice.length }

/** The passages to be left out, in order and apart: all that is found is in one of them. `found` is in order. */
export function* personalPassages(text: string, blocks: readonly Block[], found: readonly PersonalData[]): Generator<PersonalPassage> {
  let from = 0
  const within = ({ start, end }: TextRange): readonly PersonalData[] => {
    for (let each = found[from]; each !== undefined && each.end <= start; each = found[from]) from += 1
    let to = from
    for (let each = found[to]; each !== undefined && each.start < end; each = found[to]) to += 1
    return found.slice(from, to)
  }
  for (const block of blocks) {
    if (within(block).length === 0) continue
    for (const part of cutOnce(text, block, block.kind)) {
      for (const { start, end } of divided(text, { ...part, kind: block.kind }, passageSize)) {
        const [first, ...others] = within({ start, end })
        if (first !== undefined) yield { start, end, found: [first, ...others] }
      }
    }
  }
}

/** The text with each character of what is found masked: no offset moves. */
export const masked = (text: string, found: readonly TextRange[]): string => {
  const parts: string[] = []
  let at = 0
  for (const { start, end } of found) {
    parts.push(text.slice(at, start), '█'.repeat(end - start))
    at = end
  }
  return [...parts, text.slice(at)].join('')
}
