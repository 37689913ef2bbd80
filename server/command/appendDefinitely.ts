import { StoreUnavailable } from '../../domain/errors.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { EventStore, ExpectedRevision, SealedEvent } from '../../domain/ports/eventStore.ts'

const waitMsMin = 50
const waitMsMax = 5_000

/**
 * Repeats exactly these bytes until the store gives a definite answer: they are in the log once, or somebody else
 * was first (`RevisionConflict`). Gives up with `StoreUnavailable`, the outcome unknown, only when `signal` aborts.
 */
export const appendDefinitely = async (
  deps: { readonly events: EventStore; readonly clock: Clock; onTrouble?(error: StoreUnavailable): void },
  append: { stream: string; sealed: readonly SealedEvent[]; expected: ExpectedRevision },
  signal?: AbortSignal,
): Promise<void> => {
  for (let waitMs = waitMsMin; ; waitMs = Math.min(waitMsMax, waitMs * 2)) {
    try {
      return await deps.events.append(append.stream, append.sealed, append.expected)
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || signal?.aborted === true) throw error
      deps.onTrouble?.(error)
    }
    await deps.clock.sleep(waitMs, signal)
  }
}
