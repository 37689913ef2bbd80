import type { Clock } from '../../domain/ports/clock.ts'

/** Times how long facts have stood unchanged, by our own monotonic clock alone: other clocks may be wrong. */
export type Standing = {
  /** Milliseconds since this fact was first seen as it is now. `mark` says which version of it. */
  standsMs(key: string, mark: string, alreadyMs?: number): number
  /** Forgets every fact that is not among these. */
  keep(keys: ReadonlySet<string>): void
  /** After a fault of the store nobody knows what was missed: everything is seen for the first time again. */
  forget(): void
}

export const standing = (clock: Clock): Standing => {
  const seen = new Map<string, { mark: string; since: number }>()
  return {
    standsMs(key, mark, alreadyMs = 0) {
      const now = clock.monotonic()
      const before = seen.get(key)
      if (before?.mark === mark) return now - before.since
      seen.set(key, { mark, since: now - alreadyMs })
      return alreadyMs
    },
    keep(keys) {
      for (const key of seen.keys()) if (!keys.has(key)) seen.delete(key)
    },
    forget: () => seen.clear(),
  }
}
