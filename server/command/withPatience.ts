import { StoreUnavailable } from '../../domain/errors.ts'
import type { Clock } from '../../domain/ports/clock.ts'

/** How long a person is kept waiting for a store that is away. */
const patienceMs = 30_000

/** Aborts an append that has had no definite answer for half a minute: `StoreUnavailable` then says so. */
export const withPatience = async (clock: Clock, append: (signal: AbortSignal) => Promise<void>): Promise<void> => {
  const answered = new AbortController()
  const patience = new AbortController()
  void clock.sleep(patienceMs, answered.signal).then(() => patience.abort('out of patience'))
  try {
    await append(patience.signal)
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error
    throw new StoreUnavailable(`${error.message}: whether it was recorded is not known, so give it again`, error.details)
  } finally {
    answered.abort('answered')
  }
}
