import { hashOf } from './hash.ts'

export type Split = 'train' | 'test'

/** A document that has examples. */
type Splittable = {
  /** SHA-256 of its text: documents that say the same stay together, or the test would hold what was trained on. */
  readonly text: string
}

/**
 * Which documents are for testing: the given share of their texts, at least one and never all, drawn by the seed. With
 * one text there is nothing to split, and all of it is for training. Answers by hash of the text.
 */
export const splitDocuments = (
  documents: readonly Splittable[],
  { testShare, seed }: { readonly testShare: number; readonly seed: number },
): ReadonlyMap<string, Split> => {
  const texts = [...new Set(documents.map(({ text }) => text))]
  const drawn = texts.map((text) => ({ text, rank: hashOf(`${seed}:${text}`) })).toSorted((one, other) => (one.rank < other.rank ? -1 : 1))
  const wanted = testShare === 0 ? 0 : Math.max(1, Math.round(texts.length * testShare))
  const forTesting = Math.max(0, Math.min(wanted, texts.length - 1))
  return new Map(drawn.map(({ text }, nth) => [text, nth < forTesting ? 'test' : 'train']))
}
