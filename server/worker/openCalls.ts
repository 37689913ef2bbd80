import type { CallAnswer } from '../defineJob.ts'

/** The calls of one attempt that are under way, by fingerprint. */
export type OpenCalls = {
  /** The open call with this fingerprint is joined; where there is none, `make` makes it. */
  join(fingerprint: string, make: () => Promise<CallAnswer>): Promise<CallAnswer>
  /** Resolves when all have ended, however they ended. */
  allEnded(): Promise<void>
  /** How often something has happened that may have made room within the limits: a call's end, a raised limit. */
  ended(): number
  /** Resolves once it has happened more often than that. */
  nextEnd(ended: number): Promise<void>
  noteEnd(): void
}

export const openCalls = (): OpenCalls => {
  const open = new Map<string, Promise<CallAnswer>>()
  let waiting: (() => void)[] = []
  let count = 0
  return {
    join(fingerprint, make) {
      const joined = open.get(fingerprint)
      if (joined !== undefined) return joined
      const made = make().finally(() => open.delete(fingerprint))
      open.set(fingerprint, made)
      return made
    },
    async allEnded() {
      while (open.size > 0) await Promise.allSettled(open.values())
    },
    ended: () => count,
    nextEnd: (ended) => (count === ended ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve()),
    noteEnd() {
      count += 1
      const now = waiting
      waiting = []
      for (const resolve of now) resolve()
    },
  }
}
