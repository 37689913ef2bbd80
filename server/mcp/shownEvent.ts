import { z } from 'zod'
import type { JobEvent, UnknownEvent } from '../../domain/job/events.ts'
import { bounded, boundedSchema } from './bounded.ts'

/** An event as an agent is shown it: long data are shortened, so that a page has a bound. */
export const shownEventSchema = z.strictObject({
  revision: z.int().nonnegative(),
  type: z.string(),
  recordedAt: z.string(),
  actor: z.string().nullable(),
  data: boundedSchema,
})
type ShownEvent = z.output<typeof shownEventSchema>

export const shownEvent = (event: JobEvent | UnknownEvent): ShownEvent => ({
  revision: event.revision,
  type: event.type === 'Unknown' ? event.storedType : event.type,
  recordedAt: event.recordedAt,
  actor: event.type === 'Unknown' ? null : event.meta.actor,
  data: bounded(event.data),
})

export const eventText = ({ revision, recordedAt, type, actor }: ShownEvent): string =>
  `${revision} ${recordedAt} ${type}${actor === null ? '' : ` by ${actor}`}`
