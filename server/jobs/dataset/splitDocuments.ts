import { hashOf } from './hash.ts'

export type Split = 'train' | 'test'

/** An example's document. */
type Splittable = {
  /** SHA-256 of its text: documents that say the same stay together, or the test would hold what was trained on. */
  readonly text: string
}

/**
 * Which documents are for testing: drawn by the seed until their examples come near the given share of all, at least one
 * document and never all. With one text there is nothing to split, and all of it is for training. `documents` has one
 * entry for each example. Answers by hash of the text.
 */
export const splitDocuments = (
  documents: readonly Splittable[],
  { testShare, seed }: { readonly testShare: number; readonly seed: number },
): ReadonlyMap<string, Split> => {
  const counts = new Map<string, number>()
  for (const { text } of documents) counts.set(text, (counts.get(text) ?? 0) + 1)
  const drawn = [...counts]
    .map(([text, count]) => ({ text, count, rank: hashOf(`${seed}:${text}`) }))
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
  const forTesting = new Set(testShare === 0 || drawn.length < 2 ? [] : taken(drawn, documents.length * testShare))
  return new Map(drawn.map(({ text }) => [text, forTesting.has(text) ? 'test' : 'train']))
}

/** What comes near the wanted count is taken in the order drawn; where all are too large, the smallest is. */
const taken = (drawn: readonly { readonly text: string; readonly count: number }[], wanted: number): readonly string[] => {
  const texts: string[] = []
  let sum = 0
  for (const { text, count } of drawn) {
    if (sum + count > wanted * tolerance || texts.length === drawn.length - 1) continue
    texts.push(text)
    sum += count
  }
  if (texts.length > 0) return texts
  const [smallest] = drawn.toSorted((one, other) => one.count - other.count)
  return smallest === undefined ? [] : [smallest.text]
}

const tolerance = 1.25
