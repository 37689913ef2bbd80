import { z } from 'zod'
import { JobId, jobOfStream } from '../../domain/ids.ts'
import { Instant } from '../../domain/job/events.ts'
import type { endingTypes } from '../../domain/ports/completionHook.ts'
import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import type { ViewChange } from '../../domain/ports/viewStore.ts'

const EndingEvent = z.enum(['JobSucceeded', 'JobFailed', 'JobCancelled', 'JobPaused'])

/** Events by which a job ends or pauses. */
export const endingEvents: readonly (keyof typeof endingTypes)[] = EndingEvent.options

/** Which ending is meant: enough to find it in the log. */
export const EndingRef = z.strictObject({
  eventId: z.string(),
  event: EndingEvent,
  jobId: JobId,
  revision: z.int().nonnegative(),
  /** When the job ended, by its writer's clock. */
  endedAt: Instant,
})
export type EndingRef = z.infer<typeof EndingRef>

/** An ending that a hook has yet to take. */
export const DueEnding = EndingRef.extend({
  /** Tries that have failed. */
  tries: z.int().nonnegative(),
  /** Who is at a try; null while nobody is. */
  taker: z.string().nullable(),
  /** How long it is to be left alone, from `since`. */
  waitMs: z.number().nonnegative(),
  /** Since when it stands here as it does, by the clock of whoever wrote it. */
  since: Instant,
})
export type DueEnding = z.infer<typeof DueEnding>

/** Null for an event that is none. */
export const endingOf = ({ id, stream, type, revision, recordedAt }: StoredEvent): EndingRef | null => {
  const event = EndingEvent.safeParse(type)
  const jobId = jobOfStream(stream)
  return event.success && jobId !== null ? { eventId: id, event: event.data, jobId, revision, endedAt: recordedAt } : null
}

/** Endings at which nobody is at work, the first to be due first. */
export const waitingList = 'waiting'
/** Endings that somebody is telling now. */
export const takenList = 'taken'

export const putOf = (due: DueEnding): ViewChange => ({
  kind: 'put',
  document: {
    key: due.eventId,
    value: textOf(due),
    terms: [due.taker === null ? waitingList : takenList],
    sort: new Date(Date.parse(due.since) + due.waitMs).toISOString(),
  },
})

/** Equal for equal endings, however they came about. */
export const textOf = (due: DueEnding): string => JSON.stringify(DueEnding.parse(due))
