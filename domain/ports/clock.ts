/** Time, as the host tells it. */
export interface Clock {
  /** Wall-clock milliseconds since 1970 UTC: for stamps that people read. May jump. */
  now(): number
  /** Milliseconds since some fixed moment: for spans. Never goes back; counts time spent suspended. */
  monotonic(): number
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
