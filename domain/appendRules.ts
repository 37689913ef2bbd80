import { AppendTooLarge } from './errors.ts'
import { appendBytesMax, type ExpectedRevision, type SealedEvent } from './ports/eventStore.ts'
import { utf8Bytes } from './utf8.ts'

/** The revision of the first event of an append that expects this. */
export const firstRevision = (expected: ExpectedRevision): number => (expected === 'no-stream' ? 0 : expected + 1)

/** Raises `AppendTooLarge`, or an `Error` for events that no stream could take: those are faults of the caller. */
export const checkAppend = (
  stream: string,
  events: readonly SealedEvent[],
  expectedRevision: ExpectedRevision,
): void => {
  const bytes = events.reduce((sum, event) => sum + bytesOf(event), 0)
  if (bytes > appendBytesMax) throw new AppendTooLarge(stream, bytes, appendBytesMax)
  const first = firstRevision(expectedRevision)
  events.forEach((event, index) => {
    if (event.stream !== stream) throw new Error(`event ${event.id} is of ${event.stream}, not of ${stream}`)
    if (event.revision !== first + index) {
      throw new Error(`event ${event.id} has revision ${event.revision}, but ${first + index} follows in ${stream}`)
    }
  })
  if (new Set(events.map((event) => event.id)).size < events.length) {
    throw new Error(`an append to ${stream} holds the same event twice`)
  }
}

/** What an event counts for in the limit of an append. */
export const bytesOf = (event: Pick<SealedEvent, 'data' | 'meta' | 'type'>): number =>
  utf8Bytes(event.data) + utf8Bytes(event.meta) + utf8Bytes(event.type)
