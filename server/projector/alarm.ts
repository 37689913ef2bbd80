import type { Clock } from '../../domain/ports/clock.ts'

/** Wakes whoever rests. Counted, so that a ring between a look and the rest is not missed. */
export type Alarm = {
  /** How often it has rung. */
  rung(): number
  ring(): void
  /**
   * Resolves when it has rung more often than that, after `ms`, or when the signal aborts. Never rejects. Answers
   * whether it rang.
   */
  rest(rung: number, ms: number, signal: AbortSignal): Promise<boolean>
}

export const alarm = (clock: Clock): Alarm => {
  const resting = new Set<() => void>()
  let count = 0
  return {
    rung: () => count,
    ring: () => {
      count += 1
      for (const wake of [...resting]) wake()
    },
    rest: async (rung, ms, signal) => {
      if (count !== rung || signal.aborted) return count !== rung
      const awake = new AbortController()
      const wake = (): void => awake.abort('woken')
      resting.add(wake)
      signal.addEventListener('abort', wake)
      await clock.sleep(ms, awake.signal)
      resting.delete(wake)
      signal.removeEventListener('abort', wake)
      return count !== rung
    },
  }
}
