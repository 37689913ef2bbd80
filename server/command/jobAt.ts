import type { JobId } from '../../domain/ids.ts'
import { jobStream } from '../../domain/ids.ts'
import { fold } from '../../domain/job/evolve.ts'
import type { Job } from '../../domain/job/job.ts'
import { isKnown, readEvent } from '../../domain/job/readEvent.ts'
import { type JobLoading, loadJob } from './loadJob.ts'

/**
 * The job as its event at this revision left it. Raises where the stream has no such event, or this program cannot read
 * all that comes before it.
 */
export const jobAt = async (loading: JobLoading, jobId: JobId, revision: number): Promise<Job> => {
  const { job } = await loadJob(loading, jobId)
  if (job?.revision === revision) return job
  // It has been written to since: snapshots may be of later.
  const earlier = await foldedTo(loading, jobId, revision)
  if (earlier?.revision === revision) return earlier
  throw new Error(`job ${jobId} cannot be read up to revision ${revision}`)
}

const foldedTo = async ({ events }: JobLoading, jobId: JobId, revision: number): Promise<Job | null> => {
  let job: Job | null = null
  for (let from = 0; from <= revision; ) {
    const page = await events.readStream(jobStream(jobId), { from, limit: Math.min(1_000, revision + 1 - from) })
    const known = page.map(readEvent).filter(isKnown)
    if (page.length === 0 || known.length < page.length) return null
    job = fold(job, known)
    from += page.length
  }
  return job
}
