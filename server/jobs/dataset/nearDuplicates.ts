import { LshIndex, Minhash } from 'minhash'

/** Texts of which this much of the shingles, or more, is the same say the same. */
const similarityMin = 0.8

/** A window of so many words is a shingle: shorter ones make texts of one subject alike. */
const shingleWords = 3

/** Sixteen bands of four: of pairs at the least similarity one in five thousand is not noticed. */
const sketch = { numPerm: 64, seed: 1 }
const bandSize = 4

export type Likeness = { readonly id: string; readonly similarity: number }

/**
 * Tells of each text, one after the other, which earlier one it repeats for the most part, or null. Those that repeat
 * another are not compared with. Candidates come from MinHash, and are compared exactly.
 */
export const nearDuplicates = () => {
  const index = new LshIndex({ bandSize })
  const kept = new Map<string, ReadonlySet<string>>()

  return (id: string, text: string): Likeness | null => {
    const own = shinglesOf(text)
    const minhash = new Minhash(sketch)
    for (const shingle of own) minhash.update(shingle)
    index.insert(id, minhash)
    let nearest: Likeness | null = null
    for (const candidate of index.query(minhash)) {
      const other = kept.get(candidate)
      const similarity = other === undefined ? 0 : jaccard(own, other)
      if (similarity >= similarityMin && similarity > (nearest?.similarity ?? 0)) nearest = { id: candidate, similarity }
    }
    if (nearest === null) kept.set(id, own)
    return nearest
  }
}

const jaccard = (one: ReadonlySet<string>, other: ReadonlySet<string>): number => {
  let shared = 0
  for (const each of one) if (other.has(each)) shared += 1
  return shared / (one.size + other.size - shared)
}

/** Words, or single characters where a script sets no space between them. */
const tokens = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[\p{L}\p{M}\p{N}]+/gu

const shinglesOf = (text: string): ReadonlySet<string> => {
  const words = text.match(tokens) ?? []
  const last = Math.max(0, words.length - shingleWords)
  return new Set(Array.from({ length: last + 1 }, (_, nth) => words.slice(nth, nth + shingleWords).join(' ')))
}
