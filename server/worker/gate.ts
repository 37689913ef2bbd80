import type { RateLimits } from '../../domain/job/events.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import { rateWindow } from './rateWindow.ts'

/** How a call waits at a gate, so that its job can tell why nothing happens. */
export type GateWaits = {
  /** For the minute's limits. Returns early when the call is to wait no longer. */
  sleep(ms: number): Promise<void>
  /** For a place that another call has to leave. */
  queue<T>(turn: Promise<T>): Promise<T>
}

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
  enter(tokens: number, signal: AbortSignal, waits?: GateWaits): Promise<(() => void) | null>
  /** Counts a call that is known from elsewhere (the log): `agoMs` before now. */
  remember(tokens: number, agoMs: number): void
}

export const gate = (limits: RateLimits, clock: Clock): Gate => {
  const { requestsPerMinute, tokensPerMinute, maximumConcurrency = Infinity } = limits
  const requests = requestsPerMinute === undefined ? null : rateWindow(requestsPerMinute, clock)
  const tokensPassed = tokensPerMinute === undefined ? null : rateWindow(tokensPerMinute, clock)
  let inside = 0
  /** Those whose turn it is and who do not know it yet: nobody who comes now may be before them. */
  let called = 0
  const queue: (() => void)[] = []

  const waitMs = (tokens: number): number => Math.max(requests?.waitMs(1) ?? 0, tokensPassed?.waitMs(tokens) ?? 0)
  const isFree = (): boolean => inside + called < maximumConcurrency
  const callNext = (): void => {
    const next = isFree() ? queue.shift() : undefined
    if (next === undefined) return
    called += 1
    next()
  }
  const leave = (): void => {
    inside -= 1
    callNext()
  }

  return {
    waitMs,
    async enter(tokens, signal, waits = { sleep: (ms) => clock.sleep(ms, signal), queue: (turn) => turn }) {
      for (;;) {
        if (signal.aborted) return null
        const wait = waitMs(tokens)
        if (wait > 0) {
          await waits.sleep(wait)
          continue
        }
        if (isFree()) break
        const isCalled = await waits.queue(turnIn(queue, signal))
        if (!isCalled) continue
        called -= 1
        if (!signal.aborted && waitMs(tokens) === 0) break
        // It cannot take its place now: whoever is next may.
        callNext()
      }
      inside += 1
      requests?.note(1)
      tokensPassed?.note(tokens)
      let left = false
      return () => {
        if (left) return
        left = true
        leave()
      }
    },
    remember(tokens, agoMs) {
      requests?.note(1, agoMs)
      tokensPassed?.note(tokens, agoMs)
    },
  }
}

/** Resolves with true when its turn has come, with false when the signal aborts first. */
const turnIn = (queue: (() => void)[], signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const go = (): void => {
      signal.removeEventListener('abort', aborted)
      resolve(true)
    }
    const aborted = (): void => {
      queue.splice(queue.indexOf(go), 1)
      resolve(false)
    }
    queue.push(go)
    signal.addEventListener('abort', aborted, { once: true })
  })
