import { StoreUnavailable } from '../../domain/errors.ts'
import type { Clock } from '../../domain/ports/clock.ts'

const waitMsMin = 100
const waitMsMax = 5_000

/** Asks a store again until it answers. Once `abandon` has aborted, its `StoreUnavailable` is raised. */
export const patiently = async <T>(
  deps: { readonly clock: Clock; onTrouble(error: StoreUnavailable): void },
  abandon: AbortSignal,
  ask: () => Promise<T>,
): Promise<T> => {
  for (let waitMs = waitMsMin; ; waitMs = Math.min(waitMsMax, waitMs * 2)) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || abandon.aborted) throw error
      deps.onTrouble(error)
    }
    await deps.clock.sleep(waitMs, abandon)
  }
}
