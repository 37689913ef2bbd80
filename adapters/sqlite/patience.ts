import type { Clock } from '../../domain/ports/clock.ts'
import { troubleOf, unavailable } from './trouble.ts'

const patienceMs = 5000
// Short beside the gaps that a busy writer leaves: who looks seldom is starved by who writes often.
const waitMsMax = 10

/**
 * Tries again while another connection is in the way, for about five seconds, without blocking the event loop.
 * Raises `StoreUnavailable` when that did not help, and at once for trouble that waiting does not end.
 */
export const patiently = async <T>(clock: Clock, path: string, attempt: () => T): Promise<T> => {
  const since = clock.monotonic()
  for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, waitMsMax)) {
    try {
      return attempt()
    } catch (error) {
      const trouble = troubleOf(error)
      if (trouble === null) throw error
      if (!trouble.passing || clock.monotonic() - since > patienceMs) throw unavailable(path, trouble)
    }
    await clock.sleep(waitMs)
  }
}
