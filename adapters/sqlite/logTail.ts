import type { EventFilter, LogPage, Position, StoredEvent } from '../../domain/ports/eventStore.ts'
import type { EventReader } from './eventTable.ts'
import { numberOf, positionOf } from '../../domain/numberedPosition.ts'

/**
 * The newest events, read once for all subscribers that have caught up: a thousand of them would otherwise ask
 * the database a thousand times about every commit.
 */
export type LogTail = {
  /** Reads what has been committed since. Raises the driver's errors. */
  refresh(): void
  /** What stands behind `after`, as of the last refresh. Null when that lies further back than the tail. */
  page(after: Position, filter: EventFilter): LogPage | null
}

const eventsMax = 1000
const textLengthMax = 4_000_000

export const logTail = (reader: EventReader): LogTail => {
  let events: readonly StoredEvent[] = []
  // The tail holds every event behind `start`, up to `end`.
  let [start, end] = [0, 0]

  return {
    refresh: () => {
      const head = reader.head()
      if (head - end > eventsMax) {
        events = []
        end = head - eventsMax
        start = end
      }
      const grown = [...events, ...reader.between(end, head, eventsMax, null)]
      events = grown.slice(tooOld(grown))
      const dropped = grown[grown.length - events.length - 1]
      if (dropped !== undefined) start = numberOf(dropped.position)
      end = head
    },

    page: (after, filter) => {
      const place = numberOf(after)
      if (place < start || place > end) return null
      const found: StoredEvent[] = []
      for (let index = events.length - 1; index >= 0; index -= 1) {
        const event = events[index]
        if (event === undefined || event.position <= after) break
        if (passes(event, filter)) found.push(event)
      }
      return { events: found.toReversed(), scannedTo: positionOf(end), atEnd: true }
    },
  }
}

/** How many of the oldest have to go so that what is left keeps within both limits. */
const tooOld = (events: readonly StoredEvent[]): number => {
  let textLength = 0
  for (let kept = 0; kept < events.length; kept += 1) {
    const event = events[events.length - 1 - kept]
    textLength += event === undefined ? 0 : event.data.length + event.meta.length
    if (kept === eventsMax || textLength > textLengthMax) return events.length - kept
  }
  return 0
}

const passes = (event: StoredEvent, { streamPrefix = '', types = [] }: EventFilter): boolean =>
  event.stream.startsWith(streamPrefix) && (types.length === 0 || types.includes(event.type))
