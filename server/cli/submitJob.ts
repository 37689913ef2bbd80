import { announcementOf, submitAnnounced } from './announcement.ts'
import type { Run } from './call.ts'
import { exitCode } from './exitCode.ts'
import { fillOut, refuseNoFolder } from './fillOut.ts'
import { followed } from './followed.ts'
import { outcomeOf } from './jobOutcome.ts'
import { withScreen } from './jobShown.ts'
import { hookOptions, options } from './options.ts'
import { unreachable } from './reachableProvider.ts'
import { resultsText } from './resultsText.ts'
import { showJob } from './showJob.ts'
import { rehearse } from './rehearse.ts'
import { withSubmitting } from './store.ts'
import { submissionOf } from './submission.ts'
import { tellEnd } from './tellEnd.ts'

/** Leaves a job for workers. A job that is there already is shown, and nothing about it changes. */
export const submitJob: Run = async (called) => {
  const call = withScreen(called)
  const out = call.given(options.out)
  const waits = call.given(options.wait) ?? false
  if (out !== undefined) await refuseNoFolder(out)
  const submission = await submissionOf(call)
  const rehearsed = await rehearse(call, submission)
  return withSubmitting(call, async (place) => {
    const { engine } = place
    const announcement = rehearsed ?? (await announcementOf(engine, submission, call))
    const submitted = await submitAnnounced(engine, announcement, call)
    const existing = submitted.existing ? ['It was submitted before: nothing about it has changed.'] : []
    if (!waits) {
      const unfilled = out === undefined ? [] : ['--out is filled by `run`, or by `submit --wait`.']
      const hasHook = hookOptions.some((option) => call.typed(option) !== undefined)
      const untold = hasHook ? ['Its end is told by `run`, `submit --wait` and `worker`, each with its own --on-end and --webhook.'] : []
      const unknown = unreachable(submission, call)
      const elsewhere = unknown === null ? [] : [`${unknown} Only a worker that has it in its configuration can work this job.`]
      await showJob(submitted, call, [...existing, ...unfilled, ...untold, ...elsewhere])
      return exitCode.done
    }
    const job = await followed(engine, submitted, call)
    try {
      const filled = job.state === 'succeeded' && out !== undefined ? await fillOut(engine, job.jobId, out) : []
      await showJob(job, call, [...existing, ...resultsText(filled)])
    } finally {
      await tellEnd(place, job, call)
    }
    return outcomeOf(job)
  })
}
