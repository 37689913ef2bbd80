declare module 'minhash' {
  export class Minhash {
    constructor(options: { readonly numPerm: number })
    readonly maxHash: number
    /** The factor and the summand of each permutation. */
    permA: readonly number[]
    permB: readonly number[]
    /** The least hash under each permutation. */
    readonly hashvalues: number[]
    update(text: string): void
    /** A whole number from 2^31 to 3 * 2^31. */
    hash(text: string): number
  }
}
