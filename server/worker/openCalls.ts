import type { CallAnswer } from '../defineJob.ts'

/** The calls of one attempt that are under way, by fingerprint. */
export type OpenCalls = {
  /** The open call with this fingerprint is joined; where there is none, `make` makes it. */
  join(fingerprint: string, make: () => Promise<CallAnswer>): Promise<CallAnswer>
  /** Resolves when all have ended, however they ended. */
  allEnded(): Promise<void>
  /** Resolves at the next `noteEnd`. */
  nextEnd(): Promise<void>
  noteEnd(): void
}

export const openCalls = (): OpenCalls => {
  const open = new Map<string, Promise<CallAnswer>>()
  let waiting: (() => void)[] = []
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
    nextEnd: () => new Promise((resolve) => waiting.push(resolve)),
    noteEnd() {
      const now = waiting
      waiting = []
      for (const resolve of now) resolve()
    },
  }
}
