import type { Clock } from '../../domain/ports/clock.ts'

/** Whoever waits for something to become true. */
export type Waiters = {
  /** To be called whenever it may have become true. */
  look(): void
  /** Answers true once it is; false after `timeoutMs`, or when the signal aborts. Never rejects. */
  wait(isTrue: () => boolean, options: { timeoutMs: number; signal?: AbortSignal }): Promise<boolean>
}

export const waiters = (clock: Clock): Waiters => {
  const waiting = new Set<() => void>()
  return {
    look: () => {
      for (const lookAgain of [...waiting]) lookAgain()
    },
    wait: async (isTrue, { timeoutMs, signal }) => {
      if (isTrue() || signal?.aborted === true) return isTrue()
      const awake = new AbortController()
      const giveUp = (): void => awake.abort()
      const lookAgain = (): void => {
        if (isTrue()) awake.abort()
      }
      waiting.add(lookAgain)
      signal?.addEventListener('abort', giveUp)
      await clock.sleep(timeoutMs, awake.signal)
      waiting.delete(lookAgain)
      signal?.removeEventListener('abort', giveUp)
      return isTrue()
    },
  }
}
