import type { Clock } from '../../domain/ports/clock.ts'
import { bell } from '../../domain/bell.ts'

// Often while others write, so that what they tell is not told late; seldom while nobody does.
const busyPollMs = 4
const quietPollMs = 15
/** Looks without news after which nobody is taken to write. */
const quietAfter = 100

/** Tells subscribers that the log has grown: at once for this process, by polling for all others. */
export type LogNews = {
  /** Counts the news; see `Bell`. */
  rung(): number
  ring(): void
  /** Resolves when there is more news than that, or when the signal aborts. Polls only meanwhile. */
  past(rung: number, signal: AbortSignal): Promise<void>
}

/** `dataVersion` changes with every commit of another connection; it may raise, which counts as no news. */
export const logNews = (clock: Clock, dataVersion: () => number): LogNews => {
  const news = bell()
  let waiting = 0
  let polling: AbortController | null = null
  let seen: number | null = null
  let quietLooks = quietAfter

  const isNews = (): boolean => {
    try {
      const before = seen
      seen = dataVersion()
      return seen !== before
    } catch {
      // Whoever reads next meets the same trouble, and says so.
      return false
    }
  }

  const poll = async (): Promise<void> => {
    const { signal } = (polling = new AbortController())
    while (!signal.aborted) {
      quietLooks += 1
      if (isNews()) {
        quietLooks = 0
        news.ring()
      }
      await clock.sleep(quietLooks < quietAfter ? busyPollMs : quietPollMs, signal)
    }
  }

  return {
    rung: news.rung,
    ring: () => {
      // Seen now, or the next poll would report this process's own commit once more.
      isNews()
      news.ring()
    },
    past: async (rung, signal) => {
      waiting += 1
      if (polling === null) void poll()
      await news.past(rung, signal)
      waiting -= 1
      if (waiting > 0) return
      polling?.abort()
      polling = null
    },
  }
}
