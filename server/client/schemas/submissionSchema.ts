import { z } from 'zod'
import { ProviderName, RaisedLimits, RateLimits, Sha256Hex } from '../../../domain/job/events.ts'
import { Usd } from '../../../domain/money.ts'
import { PriceProfile } from '../../../domain/pricing.ts'
import { recordOf } from '../../../domain/recordOf.ts'

const Name = z.string().min(1).max(200)
const Times = z.int().positive().max(1_000_000)

/** Keys that callers choose, so that a repeat is known. */
const idempotencyKeySchema = z.string().min(1).max(500)

/** A project's name. */
export const projectIdSchema = Name

/** Limits by name; null lifts one. An amount is a decimal string such as `"2.50"`. */
export const limitsSchema = z.strictObject({
  maximumCostUsd: z.string().max(40).nullable().exactOptional(),
  maximumCalls: RaisedLimits.shape.maximumCalls.unwrap().exactOptional(),
  maximumInputTokens: RaisedLimits.shape.maximumInputTokens.unwrap().exactOptional(),
  maximumOutputTokens: RaisedLimits.shape.maximumOutputTokens.unwrap().exactOptional(),
  maximumDurationSeconds: RaisedLimits.shape.maximumDurationSeconds.unwrap().exactOptional(),
  maximumExamples: RaisedLimits.shape.maximumExamples.unwrap().exactOptional(),
})

const file = z.strictObject({
  name: z.string().min(1).max(1_000),
  /** Of a file that was stored before, in the project of the job. */
  sha256: Sha256Hex.exactOptional(),
  /** The file itself, where it is small. */
  text: z.string().exactOptional(),
})

/**
 * What a job is to be, as it comes from outside: files by their hash or as text, and a provider by its name alone, so
 * that a key goes to no address but the one that it is configured with.
 */
export const submissionSchema = z
  .strictObject({
    projectId: projectIdSchema.exactOptional(),
    type: Name,
    files: z.array(file).max(10_000).exactOptional(),
    input: z.unknown().optional(),
    provider: z.strictObject({ name: ProviderName }).nullable().exactOptional(),
    model: Name.nullable().exactOptional(),
    parameters: recordOf(Name, z.unknown()).exactOptional(),
    target: z.int().positive().exactOptional(),
    limits: limitsSchema.exactOptional(),
    rateLimits: recordOf(ProviderName, RateLimits).exactOptional(),
    priceProfiles: z.array(PriceProfile).max(100).exactOptional(),
    allowUnpriced: z.array(Name).max(1_000).exactOptional(),
    idempotencyKey: idempotencyKeySchema.exactOptional(),
    maxAttempts: Times.exactOptional(),
    callAttempts: Times.exactOptional(),
    maxLostLeases: Times.exactOptional(),
    onUnknown: z.enum(['resend', 'pause']).exactOptional(),
    concurrency: z.int().positive().max(10_000).exactOptional(),
    priority: z.int().min(-1_000_000).max(1_000_000).exactOptional(),
    labels: recordOf(Name, z.string().max(200)).exactOptional(),
    startAfter: z.iso.datetime({ offset: true }).exactOptional(),
    estimatedCostUsd: Usd.nullable().exactOptional(),
  })
  .meta({ id: 'Submission' })
export type SubmissionBody = z.output<typeof submissionSchema>

/** What the provider's own bill says of a held call. */
export const reconciliationSchema = z
  .strictObject({
    call: z.int().positive(),
    billed: z.boolean(),
    costUsd: Usd.exactOptional(),
    inputTokens: z.int().nonnegative().exactOptional(),
    outputTokens: z.int().nonnegative().exactOptional(),
    note: z.string().max(2_000).exactOptional(),
  })
  .meta({ id: 'Reconciliation' })
