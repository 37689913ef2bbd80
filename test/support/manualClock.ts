import type { Clock } from '../../domain/ports/clock.ts'

export type ManualClock = Clock & {
  /** Moves both clocks on, and wakes who is due, in order. */
  advance(ms: number): Promise<void>
  /** Moves on by small steps until the work is done, and answers what it came to. */
  until<T>(work: Promise<T>): Promise<T>
  /** Sets the wall clock alone, as a person may. */
  setWall(ms: number): void
  sleepers(): number
}

/** Lets everything that is ready to run, run. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** Time that moves when told. */
export const manualClock = (startMs = Date.UTC(2026, 0, 1)): ManualClock => {
  let monotonic = 0
  let offset = startMs
  const sleeping = new Set<{ dueAt: number; wake: () => void }>()
  const clock: ManualClock = {
    now: () => monotonic + offset,
    monotonic: () => monotonic,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted === true) return resolve()
        const sleeper = { dueAt: monotonic + ms, wake: () => wake() }
        const wake = (): void => {
          sleeping.delete(sleeper)
          signal?.removeEventListener('abort', wake)
          resolve()
        }
        sleeping.add(sleeper)
        signal?.addEventListener('abort', wake)
      }),
    async advance(ms) {
      const until = monotonic + ms
      for (;;) {
        await settled()
        const next = [...sleeping].sort((left, right) => left.dueAt - right.dueAt)[0]
        if (next === undefined || next.dueAt > until) break
        monotonic = Math.max(monotonic, next.dueAt)
        next.wake()
      }
      monotonic = until
      await settled()
    },
    async until(work) {
      let isDone = false
      void work.catch(() => {}).finally(() => (isDone = true))
      while (!isDone) await clock.advance(10)
      return work
    },
    setWall: (ms) => void (offset = ms - monotonic),
    sleepers: () => sleeping.size,
  }
  return clock
}
