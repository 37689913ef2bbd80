import Driver from 'better-sqlite3'
import { join } from 'node:path'
import type { JobEvent } from '../../domain/job/events.ts'
import { fold } from '../../domain/job/evolve.ts'
import type { Job } from '../../domain/job/job.ts'
import { isKnown, readEvent } from '../../domain/job/readEvent.ts'
import { jobStream } from '../../domain/ids.ts'
import type { JobId } from '../../domain/ids.ts'

type Row = {
  position: number
  stream: string
  revision: number
  id: string
  type: string
  schema_version: number
  recorded_at: string
  data: string
  meta: string
  hash: string
}

const eventOf = (row: Row): JobEvent => {
  const { position, schema_version: schemaVersion, recorded_at: recordedAt, ...rest } = row
  const event = readEvent({ ...rest, schemaVersion, recordedAt, position: String(position).padStart(16, '0') })
  if (!isKnown(event)) throw new Error(`an unknown event ${event.storedType}`)
  return event
}

/** Looks into the log of a store as any tool may: through its public table, without the engine. */
export const openLog = (storeFolder: string) => {
  const database = new Driver(join(storeFolder, 'log.db'), { readonly: true, timeout: 5_000 })
  const ofStream = database.prepare<[string, number], Row>(
    'SELECT * FROM events WHERE stream = ? AND revision >= ? ORDER BY revision',
  )
  const lastJob = database.prepare<[], { stream: string }>(
    "SELECT stream FROM events WHERE stream LIKE 'job-%' AND revision = 0 ORDER BY position DESC LIMIT 1",
  )
  const folded = new Map<string, Job | null>()
  const events = (jobId: string, from = 0): readonly JobEvent[] => ofStream.all(jobStream(jobId as JobId), from).map(eventOf)
  return {
    events,
    /** The job submitted last. */
    newest: (): string | undefined => lastJob.get()?.stream.slice('job-'.length),
    /** The fold of everything that is in the log now; null for an empty stream. */
    job: (jobId: string): Job | null => {
      const before = folded.get(jobId) ?? null
      const now = fold(before, events(jobId, (before?.revision ?? -1) + 1))
      folded.set(jobId, now)
      return now
    },
    count: (jobId: string, type: string): number => events(jobId).filter((event) => event.type === type).length,
    close: () => void database.close(),
  }
}

export type OpenLog = ReturnType<typeof openLog>
