import { z } from 'zod'
import { JobId } from '../../../domain/ids.ts'
import { Instant, PauseReason, Progress } from '../../../domain/job/events.ts'
import { jobStates } from '../../../domain/job/job.ts'
import { Usd } from '../../../domain/money.ts'
import { waitingForSchema } from './jobDocumentSchema.ts'

const Count = z.int().nonnegative()

/** A job as lists show it. */
export const jobInListSchema = z
  .strictObject({
    jobId: JobId,
    projectId: z.string(),
    type: z.string(),
    definitionVersion: z.int().positive(),
    state: z.enum(jobStates),
    stage: z.string().nullable(),
    stageIndex: Count,
    stages: z.array(z.string()),
    progress: Progress.nullable(),
    waitingFor: waitingForSchema,
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
    position: z.string(),
    unknownEvents: Count,
  })
  .meta({ id: 'JobInList' })
