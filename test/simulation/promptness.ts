import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import { jobOf, type JobRecord } from './jobRecord.ts'
import type { Scheduler } from './scheduler.ts'
import type { Watch } from './watch.ts'

/** Beyond the calls that are open: a second when idle, and the way there and back. */
const graceMs = 2_000

/** In calm weather a request is honoured at the next call boundary: whoever was asked to stop has stopped by then. */
export const promptness = (deps: { scheduler: Scheduler; watch: () => Watch; callTimeoutMs: () => number; calmSinceMs(): number }) => {
  const { scheduler } = deps
  const isUnanswered = (record: JobRecord, token: number): boolean => {
    const { job } = record
    if (job === null || job.lease?.token !== token || job.state !== 'running') return false
    return job.cancellationRequestedAt !== null || (job.pauseRequestedAt !== null && !job.resumeRequested)
  }
  return (event: StoredEvent): void => {
    if (event.type !== 'PauseRequested' && event.type !== 'CancellationRequested') return
    scheduler.after(0, () => {
      const jobId = jobOf(event)
      const record = jobId === null ? undefined : deps.watch().records.get(jobId)
      const token = record?.job?.lease?.token
      // Who claimed the job before may be dead, or hear of nothing any more.
      if (record === undefined || token === undefined || record.claimLandedAtMs < deps.calmSinceMs()) return
      const waitMs = deps.callTimeoutMs() + graceMs
      scheduler.after(waitMs, () => {
        if (isUnanswered(record, token)) deps.watch().broken('requestsAreHonoured', `job ${jobId} runs on ${waitMs} ms after ${event.type}`)
      })
    })
  }
}
