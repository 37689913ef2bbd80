import { hashOf } from './hash.ts'

export type Split = 'train' | 'test'

/** An example's document. */
type Splittable = {
  /** SHA-256 of the original, and of its text. */
  readonly source: string
  readonly text: string
}

/**
 * Which documents are for testing: drawn by the seed until their examples come near the given share of all, at least one
 * document and never all. Documents of one original or one text stay together, or the test would hold what was trained
 * on; where all do, all of it is for training. `documents` has one entry for each example. Answers by hash of the text.
 */
export const splitDocuments = (
  documents: readonly Splittable[],
  { testShare, seed }: { readonly testShare: number; readonly seed: number },
): ReadonlyMap<string, Split> => {
  const groupOf = grouped(documents)
  const counts = new Map<string, number>()
  for (const { text } of documents) counts.set(groupOf(text), (counts.get(groupOf(text)) ?? 0) + 1)
  const drawn = [...counts]
    .map(([group, count]) => ({ group, count, rank: hashOf(`${seed}:${group}`) }))
    .toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
  const forTesting = new Set(testShare === 0 || drawn.length < 2 ? [] : taken(drawn, documents.length * testShare))
  return new Map(documents.map(({ text }) => [text, forTesting.has(groupOf(text)) ? 'test' : 'train']))
}

/** The least hash of all documents that a text is joined to, through one original or one text after the other. */
const grouped = (documents: readonly Splittable[]): ((text: string) => string) => {
  const lesser = new Map<string, string>()
  const leastOf = (hash: string): string => {
    let least = hash
    for (let next = lesser.get(least); next !== undefined; next = lesser.get(least)) least = next
    return least
  }
  for (const { source, text } of documents) {
    const [one, other] = [leastOf(source), leastOf(text)]
    if (one !== other) lesser.set(one < other ? other : one, one < other ? one : other)
  }
  return leastOf
}

/** What comes near the wanted count is taken in the order drawn; where all are too large, the smallest is. */
const taken = (drawn: readonly { readonly group: string; readonly count: number }[], wanted: number): readonly string[] => {
  const groups: string[] = []
  let sum = 0
  for (const { group, count } of drawn) {
    if (sum + count > wanted * tolerance || groups.length === drawn.length - 1) continue
    groups.push(group)
    sum += count
  }
  if (groups.length > 0) return groups
  const [smallest] = drawn.toSorted((one, other) => one.count - other.count)
  return smallest === undefined ? [] : [smallest.group]
}

const tolerance = 1.25
