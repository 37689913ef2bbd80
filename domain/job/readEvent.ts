import { jobOfStream } from '../ids.ts'
import type { StoredEvent } from '../ports/eventStore.ts'
import { upcast } from '../upcast.ts'
import { eventData, EventMeta, type EventType, type JobEvent, type NewEvent, schemaVersions, type UnknownEvent } from './events.ts'
import { jobUpcasters } from './upcasters.ts'

const isEventType = (type: string): type is EventType => Object.hasOwn(eventData, type)

// No event schema transforms what it checks, so the value that passed is the value that was read.
function assertEvent(event: { type: EventType; data: unknown }): asserts event is NewEvent {
  eventData[event.type].parse(event.data)
}

/**
 * Reads a stored event of a job's stream, lifted to today's schema. An event of a type or version that this
 * program does not know comes back as `Unknown`, with its raw content. Raises when the stream is no job's, or the
 * event does not fit its own schema.
 */
export const readEvent = (stored: StoredEvent): JobEvent | UnknownEvent => {
  const jobId = jobOfStream(stored.stream)
  if (jobId === null) throw new Error(`${stored.stream} is not the stream of a job`)
  const { id, schemaVersion, revision, position, recordedAt, hash } = stored
  const data: unknown = JSON.parse(stored.data)
  const meta: unknown = JSON.parse(stored.meta)
  const { type } = stored
  if (!isEventType(type) || schemaVersion > schemaVersions[type]) {
    return { type: 'Unknown', storedType: type, id, schemaVersion, jobId, revision, position, recordedAt, hash, data, meta }
  }
  const lifted = upcast(jobUpcasters, type, schemaVersion, data)
  // Field by field: spreading costs more than all the rest, and every reader of the log comes by here.
  const event = {
    type,
    data: lifted,
    id,
    schemaVersion,
    jobId,
    revision,
    position,
    recordedAt,
    hash,
    meta: EventMeta.parse(meta),
  }
  assertEvent(event)
  return event
}

export const isKnown = (event: JobEvent | UnknownEvent): event is JobEvent => event.type !== 'Unknown'
