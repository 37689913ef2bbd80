import type { RateLimits } from '../../domain/job/events.ts'
import type { Clock } from '../../domain/ports/clock.ts'

const windowMs = 60_000

/**
 * Limits of a provider: so many calls at one time, so many requests and tokens in any minute. A place is taken
 * before the reservation and given back after the answer.
 */
export type Gate = {
  /**
   * Milliseconds until a call of so many tokens may pass by the minute's limits; 0: now. A call larger than the
   * whole minute's tokens passes alone.
   */
  waitMs(tokens: number): number
  /** Takes a place once one is free; null when the signal aborts first. The answer gives it back, once. */
  enter(tokens: number, signal: AbortSignal): Promise<(() => void) | null>
  /** Counts a call that is known from elsewhere (the log): `agoMs` before now. */
  remember(tokens: number, agoMs: number): void
}

export const gate = (limits: RateLimits, clock: Clock): Gate => {
  let passed: { at: number; tokens: number }[] = []
  let inside = 0
  const queue: (() => void)[] = []

  const waitMs = (tokens: number): number => {
    const now = clock.monotonic()
    passed = passed.filter((each) => now - each.at < windowMs)
    const byRequests = limits.requestsPerMinute === undefined ? 0 : untilRoom(now, () => 1, 1, limits.requestsPerMinute)
    const byTokens =
      limits.tokensPerMinute === undefined ? 0 : untilRoom(now, (each) => each.tokens, tokens, limits.tokensPerMinute)
    return Math.max(byRequests, byTokens)
  }

  const untilRoom = (
    now: number,
    size: (each: { tokens: number }) => number,
    wanted: number,
    maximum: number,
  ): number => {
    let used = passed.reduce((sum, each) => sum + size(each), 0)
    if (used + wanted <= maximum) return 0
    for (const each of passed) {
      used -= size(each)
      if (used + wanted <= maximum || used === 0) return Math.max(1, Math.ceil(each.at + windowMs - now))
    }
    return 0
  }

  const free = (): boolean => limits.maximumConcurrency === undefined || inside < limits.maximumConcurrency
  const leave = (): void => {
    inside -= 1
    queue.shift()?.()
  }

  return {
    waitMs,
    async enter(tokens, signal) {
      for (;;) {
        if (signal.aborted) {
          // Its turn was handed to it in vain: hand it on.
          queue.shift()?.()
          return null
        }
        const wait = waitMs(tokens)
        if (wait > 0) await clock.sleep(wait, signal)
        else if (!free()) await turn(queue, signal)
        else break
      }
      inside += 1
      passed.push({ at: clock.monotonic(), tokens })
      let left = false
      return () => {
        if (left) return
        left = true
        leave()
      }
    },
    remember(tokens, agoMs) {
      passed.push({ at: clock.monotonic() - agoMs, tokens })
    },
  }
}

const turn = (queue: (() => void)[], signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const go = (): void => {
      signal.removeEventListener('abort', aborted)
      resolve()
    }
    const aborted = (): void => {
      const place = queue.indexOf(go)
      if (place !== -1) queue.splice(place, 1)
      resolve()
    }
    queue.push(go)
    signal.addEventListener('abort', aborted, { once: true })
  })
