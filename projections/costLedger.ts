import { minus, nothing, plus } from '../domain/budget.ts'
import type { Amounts, EventData, JobEvent } from '../domain/job/events.ts'
import type { Money } from '../domain/job/job.ts'
import { type Usd, zeroUsd } from '../domain/money.ts'
import { inputTokensOf, type Usage } from '../domain/pricing.ts'
import type { LogEvent } from './projection.ts'

/**
 * What became of one send. `held`: nobody knows, so it counts at its worst case. `taken_over`: it was held, and its
 * key was sent again while the provider replays its answer; call `takenOverBy` counts in its place.
 */
export type LedgerState = 'reserved' | 'settled' | 'held' | 'taken_over' | 'failed' | 'reconciled'

/** One reserved send. */
export type LedgerLine = {
  readonly call: number
  readonly callKey: string
  readonly stage: string
  readonly key: string
  readonly provider: string
  readonly model: string
  readonly state: LedgerState
  readonly worstCaseUsd: Usd
  /** What was booked for it; null while nobody knows. */
  readonly costUsd: Usd | null
  /** All input that was booked; null while nobody knows. */
  readonly inputTokens: number | null
  /** All output that was booked; null while nobody knows. */
  readonly outputTokens: number | null
  /** As the provider told it; null when it told none, or what cannot be. */
  readonly usage: Usage | null
  /** Billed above the worst case. */
  readonly overrun: boolean
  readonly usageInvalid: boolean
  /** Answered after it was held. */
  readonly late: boolean
  readonly errorCode: string | null
  readonly takenOverBy: number | null
  readonly note: string | null
  readonly reservedAt: string
  /** When its state became what it is, but for `reserved`. */
  readonly endedAt: string | null
  /** Of its reservation. */
  readonly revision: number
  readonly priceProfileId: string | null
}

export type LedgerTotals = Money & {
  /** Settled, held and reserved. */
  readonly callsMade: number
}

/** The fold of one job's events, in order, into its ledger. */
export type CostLedger = {
  add(event: LogEvent): void
  /** In order of call. */
  lines(): readonly LedgerLine[]
  /** To the last digit what the folded job holds. */
  totals(): LedgerTotals
}

export const costLedger = (): CostLedger => {
  const lines = new Map<number, LedgerLine>()
  const worstCases = new Map<number, Amounts>()
  let priceProfileId: string | null = null
  let money: Money = { spent: nothing, held: nothing, reserved: nothing }

  const end = (call: number, at: string, changes: Partial<LedgerLine>): void => {
    const line = lines.get(call)
    if (line !== undefined) lines.set(call, { ...line, endedAt: at, ...changes })
  }

  /** Gives back what is set aside for a call that has not ended. */
  const release = (call: number): Amounts | null => {
    const state = lines.get(call)?.state
    const worst = worstCases.get(call)
    if (worst === undefined || (state !== 'reserved' && state !== 'held')) return null
    money = { ...money, [state]: minus(money[state], worst) }
    return worst
  }

  const spend = (amounts: Amounts): void => {
    money = { ...money, spent: plus(money.spent, amounts) }
  }

  const hold = (call: number, at: string, errorCode: string): void => {
    const worst = release(call)
    if (worst === null) return
    money = { ...money, held: plus(money.held, worst) }
    end(call, at, { state: 'held', errorCode })
  }

  const reserve = (event: Extract<JobEvent, { type: 'ProviderCallReserved' }>): void => {
    const { call, takesOver, worstCase } = event.data
    if (takesOver !== undefined && release(takesOver) !== null) {
      end(takesOver, event.recordedAt, { state: 'taken_over', takenOverBy: call })
    }
    money = { ...money, reserved: plus(money.reserved, worstCase) }
    worstCases.set(call, worstCase)
    lines.set(call, reservedLine(event.data, event, priceProfileId))
  }

  const settle = ({ data, recordedAt }: Extract<JobEvent, { type: 'ProviderCallSettled' }>): void => {
    const { call, usage, costUsd, overrun, usageInvalid, late } = data
    const worst = release(call)
    if (worst === null) return
    const tokens =
      usage === null
        ? { inputTokens: worst.inputTokens, outputTokens: worst.outputTokens }
        : { inputTokens: inputTokensOf(usage), outputTokens: usage.outputTokens }
    spend({ costUsd, calls: 1, ...tokens, examples: 0 })
    end(call, recordedAt, {
      state: 'settled',
      costUsd,
      ...tokens,
      usage,
      overrun: overrun === true,
      usageInvalid: usageInvalid === true,
      late: late === true,
      errorCode: null,
    })
  }

  const reconcile = ({ data, recordedAt }: Extract<JobEvent, { type: 'ProviderCallReconciled' }>): void => {
    const { call, costUsd, inputTokens, outputTokens, billed, note } = data
    if (release(call) === null) return
    spend({ costUsd, calls: billed ? 1 : 0, inputTokens, outputTokens, examples: 0 })
    end(call, recordedAt, { state: 'reconciled', costUsd, inputTokens, outputTokens, note: note ?? null })
  }

  const fail = ({ data, recordedAt }: Extract<JobEvent, { type: 'ProviderCallFailed' }>): void => {
    if (data.billed === 'unknown') return hold(data.call, recordedAt, data.errorCode)
    if (release(data.call) === null) return
    end(data.call, recordedAt, {
      state: 'failed',
      costUsd: zeroUsd,
      inputTokens: 0,
      outputTokens: 0,
      errorCode: data.errorCode,
    })
  }

  return {
    add: (event) => {
      switch (event.type) {
        case 'JobSubmitted':
          priceProfileId = event.data.priceProfile?.id ?? null
          return
        case 'ExamplesAccepted':
          return spend({ ...nothing, examples: event.data.count })
        case 'ProviderCallReserved':
          return reserve(event)
        case 'ProviderCallSettled':
          return settle(event)
        case 'ProviderCallFailed':
          return fail(event)
        case 'ProviderCallOrphaned':
          return hold(event.data.call, event.recordedAt, 'worker_lost')
        case 'ProviderCallReconciled':
          return reconcile(event)
        default:
          return
      }
    },
    lines: () => [...lines.values()],
    totals: () => ({ ...money, callsMade: money.spent.calls + money.held.calls + money.reserved.calls }),
  }
}

const reservedLine = (
  data: EventData<'ProviderCallReserved'>,
  { recordedAt, revision }: JobEvent,
  priceProfileId: string | null,
): LedgerLine => ({
  call: data.call,
  callKey: data.callKey,
  stage: data.stage,
  key: data.key,
  provider: data.provider,
  model: data.model,
  state: 'reserved',
  worstCaseUsd: data.worstCase.costUsd,
  costUsd: null,
  inputTokens: null,
  outputTokens: null,
  usage: null,
  overrun: false,
  usageInvalid: false,
  late: false,
  errorCode: null,
  takenOverBy: null,
  note: null,
  reservedAt: recordedAt,
  endedAt: null,
  revision,
  priceProfileId,
})
