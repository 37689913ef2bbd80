import { z } from 'zod'
import { JobId } from '../../../domain/ids.ts'
import { Limits } from '../../../domain/job/events.ts'
import { Usd } from '../../../domain/money.ts'
import { listOf } from './listOf.ts'

const Count = z.int().nonnegative()
const Amount = z.number().nonnegative()
const forecast = <Value extends z.ZodType>(value: Value) => z.strictObject({ expected: value, worst: value })

const foreseen = z.strictObject({
  calls: Count,
  examples: Count,
  inputTokens: z.strictObject({ expected: Amount, worst: Amount.nullable() }),
  outputTokens: forecast(Amount),
  costUsd: forecast(Usd.nullable()),
  seconds: forecast(Amount),
})

const overLimit = z.strictObject({
  limit: Limits.keyof(),
  value: z.union([z.number(), Usd]),
  maximum: z.union([z.number(), Usd]),
})

/** What a job is going to take. */
export const estimateSchema = z
  .strictObject({
    jobId: JobId,
    existing: z.boolean(),
    projectId: z.string(),
    type: z.string(),
    provider: z.string().nullable(),
    model: z.string().nullable(),
    foreseen: z.boolean(),
    basis: z.enum(['definition', 'history', 'guess']),
    stages: listOf(foreseen.extend({ stage: z.string() })),
    total: foreseen,
    callAttempts: Count,
    unpriced: listOf(z.string()),
    limits: Limits,
    exceeds: listOf(overLimit),
    mayExceed: listOf(overLimit),
  })
  .meta({ id: 'Estimate' })
