import { z } from 'zod'
import { JobId } from '../domain/ids.ts'
import { Instant, PauseReason, Progress } from '../domain/job/events.ts'
import { jobStates } from '../domain/job/job.ts'
import { Usd } from '../domain/money.ts'
import { after, submitted } from './jobListFold.ts'
import { jobListTerms } from './jobLists.ts'
import { newestFirst } from './newestFirst.ts'
import { defineProjection } from './projection.ts'

const Count = z.int().nonnegative()

/** The worst case of a call that has not ended, as far as this view counts it. */
const WorstCase = z.strictObject({ costUsd: Usd, calls: Count })

/** A job as lists show it. Every field but the last three is that of the job document (`domain/job/document.ts`). */
export const ListedJob = z.strictObject({
  jobId: JobId,
  projectId: z.string(),
  type: z.string(),
  definitionVersion: z.int().positive(),
  state: z.enum(jobStates),
  stage: z.string().nullable(),
  stageIndex: Count,
  stages: z.array(z.string()),
  progress: Progress.nullable(),
  waitingFor: z.strictObject({ reason: z.string(), until: Instant.nullable() }).nullable(),
  attemptCount: z.int(),
  priority: z.int(),
  labels: z.record(z.string(), z.string()),
  pauseReason: PauseReason.nullable(),
  errorCode: z.string().nullable(),
  maximumCostUsd: Usd.nullable(),
  spentCostUsd: Usd,
  heldCostUsd: Usd,
  reservedCostUsd: Usd,
  callsMade: Count,
  idempotencyKey: z.string(),
  inputConfigHash: z.string(),
  createdAt: Instant,
  startedAt: Instant.nullable(),
  finishedAt: Instant.nullable(),
  revision: Count,
  /** Of the submission: a job never moves in a list. */
  position: z.string(),
  /** Events newer than this program: what they changed is not shown. */
  unknownEvents: Count,
  /** What the fold alone needs to know. */
  fold: z.strictObject({
    failureCode: z.string().nullable(),
    leaseStarted: z.boolean(),
    open: z.record(z.string(), WorstCase),
    holds: z.record(z.string(), WorstCase),
  }),
})
export type ListedJob = z.infer<typeof ListedJob>

/**
 * Every job in short, newest first. Its fields are those of the folded job, told by an own fold that costs the same
 * for the first event as for the hundred-thousandth. Lists: `jobListOf`.
 */
export const jobList = defineProjection<ListedJob>({
  name: 'jobList',
  version: 2,
  schema: ListedJob,
  keyOf: (event) => event.jobId,
  project: (job, event) => {
    if (event.type === 'JobSubmitted') return submitted(event)
    if (job === null) return null
    if (event.type !== 'Unknown') return after(job, event)
    return { ...job, revision: event.revision, unknownEvents: job.unknownEvents + 1 }
  },
  place: (job) => ({ terms: jobListTerms(job), sort: newestFirst(job.position) }),
})
