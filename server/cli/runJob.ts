import type { JobId } from '../../domain/ids.ts'
import type { JobDocument } from '../../domain/job/document.ts'
import type { RaisedLimits } from '../../domain/job/events.ts'
import type { Workplace } from '../engine.ts'
import { announcementOf, submitAnnounced } from './announcement.ts'
import { asker } from './asker.ts'
import type { Call, Run } from './call.ts'
import { fillOut, refuseNoFolder } from './fillOut.ts'
import { interruption } from './interruption.ts'
import { outcomeOf } from './jobOutcome.ts'
import { jobShown, type ScreenCall, withScreen } from './jobShown.ts'
import { refuseMissingKey } from './missingKey.ts'
import { options } from './options.ts'
import { present } from './present.ts'
import { raisedLimits } from './raisedLimits.ts'
import { resultsText } from './resultsText.ts'
import { showJob } from './showJob.ts'
import { refuseUnreachableProvider } from './reachableProvider.ts'
import { rehearse } from './rehearse.ts'
import { withWorkplace } from './store.ts'
import { submissionOf } from './submission.ts'
import { isAtRest, tellEnd } from './tellEnd.ts'

/** Submits a job and works it here. Run again, it goes on with the job that is there. */
export const runJob: Run = async (called) => {
  const call = withScreen(called)
  const out = call.given(options.out)
  if (out !== undefined) await refuseNoFolder(out)
  const submission = await submissionOf(call)
  refuseUnreachableProvider(submission, call)
  refuseMissingKey(submission, call)
  const rehearsed = await rehearse(call, submission)
  return withWorkplace(call, async (workplace) => {
    const announcement = rehearsed ?? (await announcementOf(workplace.engine, submission, call))
    const submitted = await submitAnnounced(workplace.engine, announcement, call)
    const ready = await resumedIfRaised(workplace, submitted, submission.limits)
    const job = isAtRest(ready) ? ready : await worked(workplace, ready.jobId, call)
    try {
      await showJob(job, call, await notesOn(job, { workplace, call, wasAtRest: isAtRest(ready), out }))
    } finally {
      await tellEnd(workplace, job, call)
    }
    return outcomeOf(job)
  })
}

/** A paused job goes on when a limit given is above its own; else it stays as it is. */
const resumedIfRaised = async (
  { engine }: Workplace,
  job: JobDocument,
  limits: RaisedLimits,
): Promise<JobDocument> => {
  if (job.state !== 'paused') return job
  const raised = raisedLimits(job.budget, limits)
  return Object.keys(raised).length === 0 ? job : engine.resume(job.jobId, raised, asker())
}

const worked = async ({ engine, work }: Workplace, jobId: JobId, call: ScreenCall): Promise<JobDocument> => {
  const stop = interruption(call.shell, 'Stopping: open calls may end first. Once more to quit at once.')
  const progress = jobShown(engine, call)
  const following = new AbortController()
  // Shown beside the work, so its trouble is not the work's.
  const shown = follow(engine.follow(jobId, following.signal), progress.show).catch(() => {})
  try {
    const lease = call.given(options.lease)
    await work({ only: jobId, ...present('leaseMs', lease === undefined ? undefined : Math.round(lease * 1_000)) }, stop.signal)
    const job = await engine.status(jobId)
    following.abort()
    await shown
    progress.show(job)
    return job
  } finally {
    following.abort()
    await shown
    await progress.end()
    stop.end()
  }
}

const follow = async (jobs: AsyncIterable<JobDocument>, show: (job: JobDocument) => void): Promise<void> => {
  for await (const job of jobs) show(job)
}

const notesOn = async (
  job: JobDocument,
  { workplace, call, wasAtRest, out }: { workplace: Workplace; call: Call; wasAtRest: boolean; out: string | undefined },
): Promise<readonly string[]> => {
  if (job.state === 'succeeded') {
    if (out === undefined) return ['Run it again with --out DIR for its results: nothing is paid twice.']
    return resultsText(await fillOut(workplace.engine, job.jobId, out))
  }
  if (wasAtRest && job.state === 'paused') return ['It is paused already, and no limit given is above its own.']
  if (wasAtRest) return [`This work was submitted before, and ${job.state}.`]
  return isAtRest(job) ? [] : [`Stopped. ${call.args.length === 0 ? '' : 'The same command goes on where it stopped.'}`]
}
