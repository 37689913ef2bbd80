import type { RetryAfter } from '../../domain/errors.ts'
import { shortened } from './wellFormed.ts'

/** A longer wait is taken for a mistake (such as an absolute time in seconds), and read as none: 24 hours. */
export const retryAfterMsMax = 86_400_000

const rawUnitsMax = 100

/**
 * The wait a provider asked for, or null when it asked for none. `retry-after-ms` wins where it can be read; of
 * repeated headers the last one counts. `ms` is null for what is not a wait: that means our own backoff, never "now".
 * `nowMs` (ms since 1970) stands in for a missing `Date` header.
 */
export const retryAfter = (
  headers: Headers,
  { nowMs, redact }: { nowMs: number; redact: (text: string) => string },
): RetryAfter | null => {
  const read = (name: string, msOf: (text: string) => number | null): RetryAfter | null => {
    const header = headers.get(name)
    if (header === null) return null
    const raw = lastOf(header)
    const ms = msOf(raw)
    return { raw: shortened(redact(raw), rawUnitsMax), ms: ms !== null && ms <= retryAfterMsMax ? ms : null }
  }
  const inMs = read('retry-after-ms', (text) => span(text, 1))
  if (inMs !== null && inMs.ms !== null) return inMs
  const plain = read('retry-after', (text) => span(text, 1_000) ?? until(text, sentAt(headers) ?? nowMs))
  return plain ?? inMs
}

// Repeated headers arrive joined by commas, and an HTTP date has one of its own.
const lastOf = (header: string): string => (/(?:^|,)((?:\s*[A-Za-z]{3},)?[^,]*)$/.exec(header)?.[1] ?? header).trim()

const span = (text: string, msPerUnit: number): number | null =>
  /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Math.ceil(Number(text) * msPerUnit) : null

/** By the server's own clock where it tells it, so that clocks that disagree neither stretch nor shrink the wait. */
const until = (text: string, fromMs: number): number | null => {
  const at = httpDate(text)
  return at === null ? null : Math.max(0, at - fromMs)
}

const sentAt = (headers: Headers): number | null => httpDate(headers.get('date') ?? '')

// `Date.parse` alone reads nearly anything ("soon 5" is a day in May): only what it prints again is a date.
const httpDate = (text: string): number | null => {
  const at = Date.parse(text)
  return Number.isFinite(at) && new Date(at).toUTCString() === text ? at : null
}
