import type { Clock } from '../../../domain/ports/clock.ts'

/** One timer for all connections. */
export type Pulse = {
  /** Calls with the monotonic time about every second, until the function that this answers is called. */
  each(beat: (now: number) => void): () => void
}

const beatMs = 1_000

/** Beats while there is anybody to beat for. */
export const pulse = (clock: Clock): Pulse => {
  const beats = new Set<(now: number) => void>()
  let resting = new AbortController()

  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(beatMs, signal)
      if (signal.aborted) return
      const now = clock.monotonic()
      for (const beat of beats) beat(now)
    }
  }

  return {
    each: (beat) => {
      if (beats.size === 0) {
        resting = new AbortController()
        void run(resting.signal)
      }
      beats.add(beat)
      return () => {
        if (beats.delete(beat) && beats.size === 0) resting.abort()
      }
    },
  }
}
