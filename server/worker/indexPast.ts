import type { JobId } from '../../domain/ids.ts'
import { jobStream } from '../../domain/ids.ts'
import type { PlacedEvent } from '../../domain/job/events.ts'
import { isKnown, readEvent } from '../../domain/job/readEvent.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { EventStore } from '../../domain/ports/eventStore.ts'
import type { Desk } from './desk.ts'

/**
 * Tells `note` every event of the job up to `until`, page by page: a long job's answers do not fit into memory
 * together. Resolves with whether somebody has written behind that.
 */
export const indexPast = async (
  deps: { readonly events: EventStore; readonly clock: Clock; readonly ask: Desk['ask'] },
  job: { readonly jobId: JobId; readonly until: number },
  note: (event: PlacedEvent) => void,
): Promise<boolean> => {
  for (let from = 0; ; ) {
    const page = await deps.ask(() => deps.events.readStream(jobStream(job.jobId), { from }))
    for (const stored of page) {
      if (stored.revision > job.until) return true
      const event = readEvent(stored)
      if (isKnown(event)) note(event)
    }
    const last = page.at(-1)
    if (last === undefined || last.revision >= job.until) return false
    from = last.revision + 1
    // Lets the leases of the other jobs be renewed meanwhile.
    await deps.clock.sleep(0)
  }
}
