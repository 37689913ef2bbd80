/** A window of so many words is a shingle: shorter ones make texts of one subject alike. */
const shingleWords = 3

/** Words, or single characters where a script sets no space between them. */
const words =
  /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}]|[\p{L}\p{M}\p{N}\p{S}]+/gu

/** The shingles of a text as hashes, each once, from the least. A text of fewer words is one shingle. */
export const shinglesOf = (text: string, hash: (shingle: string) => number): Uint32Array => {
  const found = text.match(words) ?? []
  const last = Math.max(0, found.length - shingleWords)
  const hashes = new Set(Array.from({ length: last + 1 }, (_, nth) => hash(found.slice(nth, nth + shingleWords).join(' '))))
  return Uint32Array.from(hashes).sort()
}

/** The Jaccard similarity of two sets of shingles: the share that both have of all that one of them has. */
export const similarityOf = (one: Uint32Array, other: Uint32Array): number => {
  let shared = 0
  let nth = 0
  for (const hash of one) {
    while (nth < other.length && (other[nth] ?? 0) < hash) nth += 1
    if (other[nth] === hash) shared += 1
  }
  return shared / (one.length + other.length - shared)
}
