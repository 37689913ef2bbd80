/** What happened, in order. Two runs of one seed have the same hash. */
export type Trace = {
  note(line: string): void
  hash(): string
}

export const traceTo = (now: () => number, write: ((line: string) => void) | null): Trace => {
  let low = 0x811c9dc5
  let high = 0x01000193
  return {
    note(line) {
      const stamped = `${now().toFixed(3)} ${line}`
      for (let index = 0; index < stamped.length; index += 1) {
        const code = stamped.charCodeAt(index)
        low = Math.imul(low ^ code, 0x01000193)
        high = Math.imul(high ^ code, 0x5bd1e995)
      }
      write?.(stamped)
    },
    hash: () => (low >>> 0).toString(16).padStart(8, '0') + (high >>> 0).toString(16).padStart(8, '0'),
  }
}
