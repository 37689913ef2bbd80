import type { RateLimits } from '../../domain/job/events.ts'

/** How fast a job's calls may go. */
export type Speed = RateLimits & { readonly maximumConcurrency: number }

/** The tighter of each, of the limits that a job has and those of the process. */
export const speedOf = (concurrency: number, limits: readonly RateLimits[]): Speed => {
  const least = (name: keyof RateLimits): number => Math.min(...limits.map((each) => each[name] ?? Infinity))
  return {
    maximumConcurrency: Math.min(concurrency, least('maximumConcurrency')),
    requestsPerMinute: least('requestsPerMinute'),
    tokensPerMinute: least('tokensPerMinute'),
  }
}

/** Seconds that calls take which are `callSeconds` long together and reserve so many tokens. */
export const secondsAt = (
  speed: Speed,
  work: { readonly calls: number; readonly callSeconds: number; readonly tokens: number },
): number => {
  const { requestsPerMinute = Infinity, tokensPerMinute = Infinity } = speed
  const lanes = Math.max(1, Math.min(speed.maximumConcurrency, work.calls))
  const seconds = Math.max(
    work.callSeconds / lanes,
    minutesWaited(work.calls, requestsPerMinute) * 60,
    minutesWaited(work.tokens, tokensPerMinute) * 60,
  )
  return Math.round(seconds * 1_000) / 1_000
}

/** A minute's worth passes at once; then it takes a minute until as much may pass again. */
const minutesWaited = (amount: number, perMinute: number): number => Math.max(0, Math.ceil(amount / perMinute) - 1)
