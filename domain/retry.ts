/** Waits between tries: the nth wait is `min(delayMsMax, delayMsMin × 2^(n-1))`, halved to whole by luck. */
export type RetryPolicy = { readonly delayMsMin: number; readonly delayMsMax: number; readonly attemptsMax: number }

/** One policy for both tiers: inside a call, then the job. */
export const retryPolicy: RetryPolicy = { delayMsMin: 1_000, delayMsMax: 60_000, attemptsMax: 3 }

/** A wait longer than this is not slept through by an owner with nothing else to do: it gives the job back. */
export const heldWaitMsMax = 5_000

/** Our own wait after the `attempt`-th try (1-based), with `luck` in [0, 1): between half a step and a step. */
export const backoffMs = (attempt: number, luck: number, policy: RetryPolicy = retryPolicy): number => {
  const step = Math.min(policy.delayMsMax, policy.delayMsMin * 2 ** (attempt - 1))
  return Math.round(step * (0.5 + 0.5 * luck))
}

/** The wait a provider asked for is a lower bound; the luck on top keeps everybody it told from coming back at once. */
export const askedDelayMs = (askedMs: number, luck: number): number =>
  Math.ceil(askedMs + luck * Math.max(1_000, askedMs / 2))

export type ChosenDelay = { readonly delayMs: number; readonly reason: 'backoff' | 'retry_after'; readonly luck: number }

/** A year: whoever asks for more has not said when to come back. */
export const askedMsMax = 365 * 24 * 3_600_000

/** An unreadable wait (`askedMs` null, negative, or above `askedMsMax`) means our own, never "now". */
export const chooseDelay = (
  failure: { attempt: number; askedMs: number | null; luck: number },
  policy: RetryPolicy = retryPolicy,
): ChosenDelay => {
  const { attempt, askedMs, luck } = failure
  return askedMs !== null && askedMs >= 0 && askedMs <= askedMsMax
    ? { delayMs: askedDelayMs(askedMs, luck), reason: 'retry_after', luck }
    : { delayMs: backoffMs(attempt, luck, policy), reason: 'backoff', luck }
}
