import { z } from 'zod'
import { Amounts, Instant } from '../../../domain/job/events.ts'
import { Usd } from '../../../domain/money.ts'
import { Usage } from '../../../domain/pricing.ts'
import { listOf } from './listOf.ts'

const Count = z.int().nonnegative()

const line = z
  .strictObject({
    call: Count,
    callKey: z.string(),
    stage: z.string(),
    key: z.string(),
    provider: z.string(),
    model: z.string(),
    state: z.enum(['reserved', 'settled', 'held', 'taken_over', 'failed', 'reconciled']),
    worstCaseUsd: Usd,
    costUsd: Usd.nullable(),
    inputTokens: Count.nullable(),
    outputTokens: Count.nullable(),
    usage: Usage.nullable(),
    overrun: z.boolean(),
    usageInvalid: z.boolean(),
    late: z.boolean(),
    errorCode: z.string().nullable(),
    takenOverBy: Count.nullable(),
    note: z.string().nullable(),
    reservedAt: Instant,
    endedAt: Instant.nullable(),
    revision: Count,
    priceProfileId: z.string().nullable(),
  })
  .meta({ id: 'LedgerLine' })

/** Every call of a job and what it cost. */
export const ledgerSchema = z
  .strictObject({
    lines: listOf(line),
    totals: z.strictObject({ spent: Amounts, held: Amounts, reserved: Amounts, callsMade: Count }),
  })
  .meta({ id: 'Ledger' })
