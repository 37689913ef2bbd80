import { z } from 'zod'
import { JobId } from '../../../domain/ids.ts'
import { ArtifactRef, Content, Instant, Limits, Progress, Sha256Hex } from '../../../domain/job/events.ts'
import { jobStates } from '../../../domain/job/job.ts'
import { Usd } from '../../../domain/money.ts'
import { listOf } from './listOf.ts'

const Count = z.int().nonnegative()

export const waitingForSchema = z.strictObject({ reason: z.string(), until: Instant.nullable() }).nullable()

/** The job document (`domain/job/document.ts`) as it is sent. */
export const jobDocumentSchema = z
  .strictObject({
    jobId: JobId,
    existing: z.boolean(),
    projectId: z.string(),
    type: z.string(),
    definitionVersion: Count,
    state: z.enum(jobStates),
    stage: z.string().nullable(),
    stageIndex: Count,
    stages: listOf(z.string()),
    progress: Progress.nullable(),
    waitingFor: waitingForSchema,
    attemptCount: Count,
    maxAttempts: Count,
    lostLeaseCount: Count,
    leaseOwner: z.string().nullable(),
    leaseToken: Count.nullable(),
    leaseExpiresAt: Instant.nullable(),
    heartbeatAt: Instant.nullable(),
    retryAt: Instant.nullable(),
    idempotencyKey: z.string(),
    inputConfigHash: Sha256Hex,
    priority: z.int(),
    labels: z.record(z.string(), z.string()),
    checkpoint: z.strictObject({ stage: z.string(), key: z.string(), at: Instant }).nullable(),
    estimatedCostUsd: Usd.nullable(),
    actualCostUsd: Usd,
    budget: Limits.extend({
      spentCostUsd: Usd,
      heldCostUsd: Usd,
      reservedCostUsd: Usd,
      callsMade: Count,
      inputTokens: Count,
      outputTokens: Count,
      examplesProduced: Count,
      durationSeconds: z.number().nonnegative(),
      providers: z.record(z.string(), z.strictObject({ calls: Count, costUsd: Usd })),
    }),
    priceProfile: z.strictObject({ id: z.string(), sha256: Sha256Hex }).nullable(),
    pauseRequestedAt: Instant.nullable(),
    cancellationRequestedAt: Instant.nullable(),
    errorCode: z.string().nullable(),
    errorSummary: z.string().nullable(),
    output: Content.nullable(),
    createdAt: Instant,
    startedAt: Instant.nullable(),
    finishedAt: Instant.nullable(),
    revision: Count,
  })
  .meta({ id: 'JobDocument', description: 'A job as it stands. Money is decimal US dollars, instants are ISO 8601 UTC.' })

/** A file that a succeeded job leaves. Its bytes are an artifact of the job's project. */
export const outputFileSchema = ArtifactRef.extend({ path: z.string() }).meta({ id: 'OutputFile' })
