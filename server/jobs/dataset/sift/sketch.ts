import { Minhash } from 'minhash'
import { hashOf } from '../hash.ts'

/**
 * Texts that share four fifths of their shingles share a band but for one pair in a thousand; those that share half,
 * in three of four; those that share a tenth, in one of a hundred.
 */
const bandCount = 10
const bandSize = 3

/** Shingles as the library hashes them, and the MinHash of a set of those. */
export const sketching = () => {
  const minhash = new Minhash({ numPerm: bandCount * bandSize })
  // Its own are made of sines, which not every machine rounds alike. Small factors keep the products whole.
  minhash.permA = drawn('factor', 2 ** 20)
  minhash.permB = drawn('summand', 2 ** 32)

  return {
    hash: (shingle: string): number => minhash.hash(shingle) >>> 0,
    /** A number for each band: sets of which one is the same are worth comparing. */
    bandsOf: (shingles: Uint32Array): readonly number[] => {
      minhash.hashvalues.fill(minhash.maxHash)
      // Two characters, as each is hashed again for each permutation.
      for (const hash of shingles) minhash.update(String.fromCharCode(hash >>> 16, hash & 0xffff))
      return Array.from({ length: bandCount }, (_, band) =>
        minhash.hashvalues.slice(band * bandSize, (band + 1) * bandSize).reduce(mixed, band),
      )
    },
  }
}

const drawn = (name: string, below: number): readonly number[] =>
  Array.from({ length: bandCount * bandSize }, (_, nth) => (Number.parseInt(hashOf(`${name} ${nth}`).slice(0, 8), 16) % below) + 1)

const mixed = (one: number, other: number): number => {
  const product = Math.imul(one ^ other, 0x9e3779b1)
  return product ^ (product >>> 15)
}
