import { jobStreamPrefix } from '../../domain/ids.ts'
import type { UnknownEvent } from '../../domain/job/events.ts'
import { isKnown, readEvent } from '../../domain/job/readEvent.ts'
import type { EventStore, Position, StoredEvent } from '../../domain/ports/eventStore.ts'
import type { LogEvent } from '../../projections/projection.ts'
import type { Telemetry } from '../telemetry.ts'

/** Part of the log, parsed once for every view that folds it. */
export type PageOfLog = {
  readonly stored: readonly StoredEvent[]
  /** What could be read of them, in the same order. */
  readonly events: readonly LogEvent[]
  readonly unknown: readonly UnknownEvent[]
  readonly scannedTo: Position
  readonly atEnd: boolean
}

/** Views are made of the events of jobs; other streams (tokens) are none of theirs. */
const filter = { streamPrefix: jobStreamPrefix }

/**
 * What stands behind `after`, up to `until` where it is given. An event that breaks its own schema is skipped: views
 * go on without it, and to name it is the log's verification.
 */
export const pageOfLog = async (
  events: Pick<EventStore, 'readAll'>,
  log: Pick<Telemetry, 'fault'>,
  { after, until, limit }: { after: Position; until?: Position; limit: number },
): Promise<PageOfLog> => {
  const page = await events.readAll({ after, limit, filter })
  const stored = until === undefined ? page.events : page.events.filter((event) => event.position <= until)
  const isCut = until !== undefined && page.scannedTo >= until
  const read = stored.flatMap((event) => readOrSkip(event, log))
  return {
    stored,
    events: read,
    unknown: read.filter((event) => !isKnown(event)),
    scannedTo: isCut ? until : page.scannedTo,
    atEnd: isCut || page.atEnd,
  }
}

const readOrSkip = (stored: StoredEvent, log: Pick<Telemetry, 'fault'>): readonly LogEvent[] => {
  try {
    return [readEvent(stored)]
  } catch (error) {
    log.fault(`views skip event ${stored.id}, revision ${stored.revision} of ${stored.stream}`, error)
    return []
  }
}
