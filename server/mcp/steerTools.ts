import { z } from 'zod'
import type { JobDocument } from '../../domain/job/document.ts'
import { limitsSchema } from '../client/schemas/submissionSchema.ts'
import { handle } from './handle.ts'
import { jobText, shownJob, shownJobSchema } from './shownJob.ts'
import { tool } from './tool.ts'

const input = z.strictObject(handle)
const output = shownJobSchema
const harmless = { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false }
const spending = { ...harmless, openWorldHint: true }

const answer = (job: JobDocument) => ({ value: shownJob(job), text: jobText(job) })

const pauseJob = tool({
  name: 'knovaryn_pause_job',
  title: 'Pause a job',
  description:
    'Has a job pause at its next checkpoint or call: what is done stays, open calls may end, no new one is begun. ' +
    'Use it to stop spending for now. Pausing a paused job changes nothing.',
  annotations: harmless,
  input,
  output,
  run: async (engine, { jobId }) => answer(await engine.pause(jobId)),
})

const resumeJob = tool({
  name: 'knovaryn_resume_job',
  title: 'Resume a job',
  description:
    'Lets a paused job go on from its last checkpoint. One that paused by budget_exhausted needs a higher limit: limits are new ' +
    'totals, never lower than before, and null lifts one. It may spend money again, up to its limits.',
  annotations: spending,
  input: input.extend({ limits: limitsSchema.exactOptional() }),
  output,
  run: async (engine, { jobId, limits }) => answer(await engine.resume(jobId, limits)),
})

const cancelJob = tool({
  name: 'knovaryn_cancel_job',
  title: 'Cancel a job',
  description:
    'Ends a job for good: it cannot be resumed. Use knovaryn_pause_job where it may yet go on. What was spent stays spent. ' +
    'Cancelling a cancelled job changes nothing.',
  annotations: { ...harmless, destructiveHint: true },
  input,
  output,
  run: async (engine, { jobId }) => answer(await engine.cancel(jobId)),
})

const retryJob = tool({
  name: 'knovaryn_retry_job',
  title: 'Retry a failed job',
  description:
    'Lets a failed job try again from its last checkpoint: calls that are done are not paid for again. Use it once what the error ' +
    'names is mended. A job that a policy forbids is never retried.',
  annotations: { ...spending, idempotentHint: false },
  input,
  output,
  run: async (engine, { jobId }) => answer(await engine.retry(jobId)),
})

/** For telling a job what to do. */
export const steerTools = [pauseJob, resumeJob, cancelJob, retryJob]
