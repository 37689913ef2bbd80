import { z } from 'zod'
import { jobStream, JobId } from '../../domain/ids.ts'
import { type JobEvent, schemaVersions, type UnknownEvent } from '../../domain/job/events.ts'
import { readEvent } from '../../domain/job/readEvent.ts'

/** An event as a server sends it, not yet known to be of a type that is known here. */
export const wireEventSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  storedType: z.string().optional(),
  schemaVersion: z.int().positive(),
  jobId: JobId,
  revision: z.int().nonnegative(),
  position: z.string(),
  recordedAt: z.string(),
  hash: z.string(),
  data: z.unknown(),
  meta: z.unknown(),
})
export type WireEvent = z.output<typeof wireEventSchema>

/**
 * The event as it is read here. The server has lifted its data to the newest version that it knows; what does not fit
 * the one that is known here comes back as `Unknown`.
 */
export const eventOfWire = (wire: WireEvent): JobEvent | UnknownEvent => {
  const { id, type, storedType = type, schemaVersion, jobId, revision, position, recordedAt, hash, data, meta } = wire
  const envelope = { id, jobId, revision, position, recordedAt, hash }
  const version = versions.get(type)
  if (version !== undefined) {
    const stored = { ...envelope, type, stream: jobStream(jobId), schemaVersion: version, data: JSON.stringify(data), meta: JSON.stringify(meta) }
    try {
      return { ...readEvent(stored), schemaVersion }
    } catch {
      // Of a newer shape: shown as it came.
    }
  }
  return { ...envelope, type: 'Unknown', storedType, schemaVersion, data, meta }
}

const versions: ReadonlyMap<string, number> = new Map(Object.entries(schemaVersions))
