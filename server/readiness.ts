import type { Clock } from '../domain/ports/clock.ts'

/** Whether a process can do its work, and why not. */
export type Readiness = { readonly isReady: boolean; readonly reason: string | null }

/** How long views may take to reach the end of the log. */
const lagMsMax = 5_000
/** How long a store is not trusted after it could not be read or written. */
const troubledMs = 10_000
/** One look serves everybody who asks meanwhile, and so long after: whoever asks needs no token. */
const keptMs = 1_000

const no = (reason: string): Readiness => ({ isReady: false, reason })

/** Whether a process can do its work, by what it has heard of the store, and by whether its views can be brought to the end. */
export const readiness = (clock: Clock) => {
  let troubledAt = -Infinity
  let last: { readonly seen: Promise<Readiness>; endedAt: number } | null = null

  const look = async (catchUp: () => Promise<unknown>): Promise<Readiness> => {
    if (clock.monotonic() - troubledAt < troubledMs) return no('the store could not be read or written a moment ago')
    const over = new AbortController()
    const reached = catchUp().then(
      (): Readiness => ({ isReady: true, reason: null }),
      () => no('the store does not answer'),
    )
    const late = clock.sleep(lagMsMax, over.signal).then(() => no('the views do not reach the end of the log'))
    return Promise.race([reached, late]).finally(() => over.abort())
  }

  return {
    /** The store could not be read or written just now. */
    noticed(): void {
      troubledAt = clock.monotonic()
      last = null
    },
    ready(catchUp: () => Promise<unknown>): Promise<Readiness> {
      if (last !== null && clock.monotonic() - last.endedAt < keptMs) return last.seen
      const current = { seen: look(catchUp), endedAt: Infinity }
      last = current
      return current.seen.finally(() => (current.endedAt = clock.monotonic()))
    },
  }
}
