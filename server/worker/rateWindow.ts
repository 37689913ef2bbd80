import type { Clock } from '../../domain/ports/clock.ts'

const windowMs = 60_000
/** Places at the front that are done with before they are taken out together. */
const deadMax = 1_024

/** What has passed within the last minute, of which so much may. */
export type RateWindow = {
  /** Milliseconds until so much more may pass; 0: now. More than the whole minute's passes alone. */
  waitMs(wanted: number): number
  /** Counts what passed `agoMs` before now. */
  note(size: number, agoMs?: number): void
}

export const rateWindow = (maximum: number, clock: Clock): RateWindow => {
  let passed: { readonly at: number; readonly size: number }[] = []
  let first = 0
  let used = 0

  // Each is counted in and out once, so that a call costs the same however many went before it.
  const forget = (now: number): void => {
    for (let oldest = passed[first]; oldest !== undefined && now - oldest.at >= windowMs; oldest = passed[first]) {
      used -= oldest.size
      first += 1
    }
    if (first < deadMax) return
    passed = passed.slice(first)
    first = 0
  }

  return {
    waitMs(wanted) {
      const now = clock.monotonic()
      forget(now)
      if (used === 0 || used + wanted <= maximum) return 0
      let left = used
      for (let index = first; ; index += 1) {
        const each = passed[index]
        if (each === undefined) return 0
        left -= each.size
        if (left + wanted <= maximum || left === 0) return Math.max(1, Math.ceil(each.at + windowMs - now))
      }
    },
    note(size, agoMs = 0) {
      passed.push({ at: clock.monotonic() - agoMs, size })
      used += size
    },
  }
}
