declare module 'minhash' {
  export class Minhash {
    constructor(options: { readonly numPerm: number; readonly seed: number })
    update(text: string): void
  }
  export class LshIndex {
    constructor(options: { readonly bandSize: number })
    insert(key: string, sketch: Minhash): void
    /** Keys that share a band with the sketch, which must have been inserted itself. */
    query(sketch: Minhash): string[]
  }
}
