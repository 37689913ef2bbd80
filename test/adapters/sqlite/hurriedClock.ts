import type { Clock } from '../../../domain/ports/clock.ts'

/** A clock that jumps over every sleep: what waits for seconds is over in a turn of the event loop. */
export const hurriedClock = (): Clock => {
  const startedAt = Date.now()
  let passedMs = 0
  return {
    now: () => startedAt + passedMs,
    monotonic: () => passedMs,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        setImmediate(() => {
          if (signal?.aborted !== true) passedMs += ms
          resolve()
        })
      }),
  }
}
