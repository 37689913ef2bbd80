import { StoreUnavailable } from '../../domain/errors.ts'
import { jobStreamPrefix } from '../../domain/ids.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { EventStore, Position } from '../../domain/ports/eventStore.ts'
import type { Telemetry } from '../telemetry.ts'

const resubscribeMs = 1_000

/** Rings at every event of a job behind `after`, or at those of `types`, until the signal aborts. Never rejects. */
export const followNews = async (
  deps: { readonly events: EventStore; readonly clock: Clock; readonly log: Pick<Telemetry, 'trouble' | 'fault'> },
  { after, types = [], ring, signal }: { after: Position; types?: readonly string[]; ring(): void; signal: AbortSignal },
): Promise<void> => {
  let position = after
  while (!signal.aborted) {
    try {
      const filter = { streamPrefix: jobStreamPrefix, types }
      for await (const delivery of deps.events.subscribe({ after: position, filter, signal })) {
        position = delivery.kind === 'event' ? delivery.event.position : delivery.position
        ring()
      }
    } catch (error) {
      if (error instanceof StoreUnavailable) deps.log.trouble('following the log', error)
      else deps.log.fault('following the log', error)
    }
    await deps.clock.sleep(resubscribeMs, signal)
  }
}
