import { InvalidInputError } from '../domain/errors.ts'
import { type JobId, jobStream } from '../domain/ids.ts'
import { readEvent } from '../domain/job/readEvent.ts'
import { beforeAll, type EventStore, type Position, type StoredEvent } from '../domain/ports/eventStore.ts'
import type { LiveFrame, LiveQuery } from './engine.ts'
import { projectOf } from './projectOf.ts'

/** The query with its job found. */
type LiveQueryOfJob = Omit<LiveQuery, 'jobId'> & { readonly jobId?: JobId | undefined }

/** Streams of jobs alone: what stands beside them in the log is not for people. */
const jobStreams = 'job-'

/** See `Engine.live`. A cursor over the log: whoever reads slowly holds nothing in memory. */
export async function* liveEvents(events: EventStore, query: LiveQueryOfJob, signal: AbortSignal): AsyncGenerator<LiveFrame> {
  const { jobId, projectIds, types } = query
  const after = await startOf(events, query.after ?? 'end')
  const filter = { streamPrefix: jobId === undefined ? jobStreams : jobStream(jobId), ...(types === undefined ? {} : { types }) }
  for await (const delivery of events.subscribe({ after, filter, signal })) {
    if (delivery.kind === 'caughtUp') {
      yield { kind: 'caught_up', position: delivery.position }
      continue
    }
    // First, so that an event of others that is broken, or only large, is not in the way.
    if (projectIds !== undefined && !projectIds.includes(projectOfStored(delivery.event))) continue
    const event = readEvent(delivery.event)
    yield { kind: 'event', position: event.position, event }
  }
}

const projectOfStored = (stored: StoredEvent): string => {
  const meta: unknown = JSON.parse(stored.meta)
  return projectOf({ meta })
}

const startOf = async (events: EventStore, after: Position): Promise<Position> => {
  if (after === 'start') return beforeAll
  const head = await events.head()
  if (after === 'end') return head
  // Lexical order is log order: a place behind the last event is none of this log.
  if (after > head) throw foreign(after)
  await events.readAll({ after, limit: 1 }).catch((error: unknown) => {
    throw error instanceof InvalidInputError ? foreign(after) : error
  })
  return after
}

const foreign = (position: string): InvalidInputError =>
  new InvalidInputError(`position ${JSON.stringify(position)} is not of this log: follow it from "start"`, { position }, 'foreign_position')
