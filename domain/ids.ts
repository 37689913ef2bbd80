import { z } from 'zod'
import { canonical } from './canonical.ts'
import type { Sha256 } from './ports/hash.ts'

export const JobId = z.string().regex(/^[0-9a-f]{32}$/, 'must be 32 lower-case hex digits').brand<'JobId'>()
export type JobId = z.infer<typeof JobId>

/** Of the project and its key alone, so that two racing submits meet on the same stream. */
export const jobIdOf = (projectId: string, idempotencyKey: string, sha256: Sha256): JobId =>
  JobId.parse(sha256(canonical([projectId, idempotencyKey])).slice(0, 32))

export const jobStreamPrefix = 'job-'
export const jobStream = (jobId: JobId): string => `${jobStreamPrefix}${jobId}`

/** The job whose stream this is, or null for any other stream. */
export const jobOfStream = (stream: string): JobId | null => {
  const parsed = JobId.safeParse(stream.startsWith(jobStreamPrefix) ? stream.slice(jobStreamPrefix.length) : '')
  return parsed.success ? parsed.data : null
}
