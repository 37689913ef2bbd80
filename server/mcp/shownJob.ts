import { z } from 'zod'
import type { JobDocument } from '../../domain/job/document.ts'
import { jobDocumentSchema } from '../client/schemas/jobDocumentSchema.ts'
import { bounded, boundedSchema } from './bounded.ts'

const outputCharactersMax = 4_000

const shown = jobDocumentSchema.pick({
  jobId: true,
  existing: true,
  projectId: true,
  type: true,
  state: true,
  stage: true,
  stages: true,
  progress: true,
  waitingFor: true,
  attemptCount: true,
  maxAttempts: true,
  retryAt: true,
  idempotencyKey: true,
  priority: true,
  checkpoint: true,
  estimatedCostUsd: true,
  actualCostUsd: true,
  budget: true,
  errorCode: true,
  errorSummary: true,
  createdAt: true,
  startedAt: true,
  finishedAt: true,
  revision: true,
})

/** A job as an agent is shown it, with what can be done next. Not strict: of a job document the rest falls away. */
export const shownJobSchema = z.object({
  job: z.object({ ...shown.shape, labels: boundedSchema, output: boundedSchema }).describe('Money is decimal US dollars as text, instants are ISO 8601 UTC.'),
  next: z.string().describe('What to do next'),
})

export const shownJob = (job: JobDocument): z.input<typeof shownJobSchema> => ({
  job: { ...job, labels: bounded(job.labels), output: bounded(job.output, outputCharactersMax) },
  next: nextOf(job),
})

/** The job in a few lines. */
export const jobText = (job: JobDocument): string => {
  const { budget, progress, stage, errorCode, errorSummary } = job
  const at = stage === null ? '' : `, at stage ${stage}`
  const done = progress === null ? '' : `, ${progress.done}${progress.total === null ? '' : ` of ${progress.total}`} ${progress.unit} done`
  const maximum = budget.maximumCostUsd === null ? '' : ` of at most ${budget.maximumCostUsd}`
  return [
    `${job.type} job ${job.jobId} is ${job.state}${at}${done}.`,
    `Cost ${job.actualCostUsd}${maximum} US dollars by ${budget.callsMade} calls; held ${budget.heldCostUsd}, reserved ${budget.reservedCostUsd}.`,
    ...(errorCode === null ? [] : [`${errorCode}: ${errorSummary ?? ''}`]),
    `Next: ${nextOf(job)}`,
  ].join('\n')
}

const again = 'Ask knovaryn_get_job again in a while.'

const nextOf = (job: JobDocument): string => {
  switch (job.state) {
    case 'queued':
      return `The job waits for a worker (somebody runs \`knovaryn worker\`). ${again}`
    case 'leased':
    case 'running':
    case 'pausing':
    case 'cancelling':
      return again
    case 'retry_wait':
      return `The job goes on by itself${job.retryAt === null ? '' : ` at ${job.retryAt}`}. ${again}`
    case 'paused':
      return nextOfPaused(job)
    case 'succeeded':
      return 'The job is done: "output" tells what it made.'
    case 'failed':
      return job.errorCode === 'policy_block'
        ? 'What a policy forbids is never tried again: change what is asked, and submit it with another idempotencyKey.'
        : 'Mend what the error names, then knovaryn_retry_job: what was done before is not paid for again. Or submit other work with another idempotencyKey.'
    case 'cancelled':
      return 'A cancelled job stays so: submit the work with another idempotencyKey.'
  }
}

const nextOfPaused = ({ errorCode }: JobDocument): string => {
  if (errorCode === 'budget_exhausted') return 'knovaryn_resume_job with a higher total for the limit that is named.'
  if (errorCode === null) return 'knovaryn_resume_job lets it go on.'
  return 'A person is to look at it: `knovaryn job ledger` shows held calls, and `knovaryn job reconcile` closes one. Then knovaryn_resume_job.'
}
