/** A longer wait is taken for a mistake, and read as none: 24 hours. */
const askedWaitMsMax = 86_400_000

/** The wait of a `Retry-After` in seconds or as an HTTP date; null for none, and for one that cannot be read. */
export const askedWaitMs = (headers: Headers, nowMs: number): number | null => {
  const text = headers.get('retry-after') ?? ''
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : untilMs(text, nowMs)
  return ms !== null && ms <= askedWaitMsMax ? ms : null
}

// `Date.parse` alone reads nearly anything: only what it prints again is a date.
const untilMs = (text: string, nowMs: number): number | null => {
  const at = Date.parse(text)
  return Number.isFinite(at) && new Date(at).toUTCString() === text ? Math.max(0, at - nowMs) : null
}
