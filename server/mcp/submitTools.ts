import { z } from 'zod'
import { estimateSchema } from '../client/schemas/estimateSchema.ts'
import type { Estimate } from '../engine.ts'
import { jobText, shownJob, shownJobSchema } from './shownJob.ts'
import { submissionInput, submissionOf } from './submissionInput.ts'
import { tool } from './tool.ts'

const submitJob = tool({
  name: 'knovaryn_submit_job',
  title: 'Submit a job',
  description:
    'Submits a durable job of paid model calls, such as a batch of prompts; workers of the server work it, and it survives their end. ' +
    'It may spend money, up to its limits: call knovaryn_estimate_job with the same arguments first, and give limits. ' +
    'Safe to repeat: the same idempotencyKey (or, without one, the same content) answers with the job that is there, `existing: true`, ' +
    'whatever its state; nothing is paid twice. Poll it with knovaryn_get_job.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: submissionInput,
  output: shownJobSchema,
  async run(engine, input) {
    const job = await engine.submit(submissionOf(input))
    const met = job.existing ? 'This job was there already, and nothing was submitted.\n' : ''
    return { value: shownJob(job), text: `${met}${jobText(job)}` }
  },
})

const estimateJob = tool({
  name: 'knovaryn_estimate_job',
  title: 'Estimate a job',
  description:
    'Calls, tokens, cost and time that a job is going to take, expected and at worst, and the limits it cannot stay within. ' +
    'Nothing is submitted or spent. Use it before knovaryn_submit_job, with the same arguments.',
  annotations: { readOnlyHint: true, openWorldHint: false },
  input: submissionInput,
  output: z.strictObject(estimateSchema.shape),
  async run(engine, input) {
    const estimate = await engine.estimate(submissionOf(input))
    return { value: estimate, text: estimateText(estimate) }
  },
})

const estimateText = ({ foreseen, total, exceeds, mayExceed, existing }: Estimate): string => {
  const { calls, costUsd, seconds } = total
  const cost = ({ expected, worst }: typeof costUsd): string => `${expected ?? 'unknown'} US dollars expected, ${worst ?? 'unknown'} at worst`
  const named = (limits: typeof exceeds): string => limits.map(({ limit }) => limit).join(', ')
  return [
    foreseen ? `${calls} calls, ${cost(costUsd)}, ${Math.ceil(seconds.expected)} s.` : 'The job type does not tell its calls beforehand.',
    ...(existing ? ['The job is there already: submitting it changes nothing.'] : []),
    ...(exceeds.length === 0 ? [] : [`It cannot stay within ${named(exceeds)}: raise those limits, or ask for less.`]),
    ...(mayExceed.length === 0 ? [] : [`It may come to ${named(mayExceed)}, and would then pause.`]),
  ].join('\n')
}

/** For having a job done. */
export const submitTools = [submitJob, estimateJob]
