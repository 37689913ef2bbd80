import { z } from 'zod'
import { JobId } from '../../../domain/ids.ts'
import { eventData, EventMeta, Instant } from '../../../domain/job/events.ts'

const envelope = {
  id: z.string(),
  schemaVersion: z.int().positive(),
  jobId: JobId,
  revision: z.int().nonnegative(),
  position: z.string(),
  recordedAt: Instant,
  hash: z.string(),
}

const known = Object.entries(eventData).map(([type, data]: [string, z.ZodType]) =>
  z.strictObject({ ...envelope, type: z.literal(type), data, meta: EventMeta }).meta({ id: type }),
)

const unknownEvent = z
  .strictObject({ ...envelope, type: z.literal('Unknown'), storedType: z.string(), data: z.unknown(), meta: z.unknown() })
  .meta({ id: 'Unknown', description: 'An event of a type or version that this server does not know, as it is stored.' })

/** An event of a job's stream. `position` is opaque: its lexical order is log order. */
export const jobEventSchema = z.discriminatedUnion('type', [unknownEvent, ...known]).meta({ id: 'JobEvent' })
