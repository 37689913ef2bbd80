import { firstExceeded, nothing, plus } from '../../domain/budget.ts'
import type { Amounts, JobEvent, Limits } from '../../domain/job/events.ts'
import type { Job, Money } from '../../domain/job/job.ts'
import { addUsd, nanoUsd, type Usd, usd, zeroUsd } from '../../domain/money.ts'
import { inputTokensOf } from '../../domain/pricing.ts'
import { costLedger } from '../../projections/costLedger.ts'
import type { Report } from './findings.ts'

// A ledger with nothing open or held is only its sum, so that a job of many calls needs no more memory than one of few.
const eventsInLedgerMax = 1_000

const moneyEvents: ReadonlySet<string> = new Set([
  'ExamplesAccepted',
  'ProviderCallReserved',
  'ProviderCallSettled',
  'ProviderCallFailed',
  'ProviderCallOrphaned',
  'ProviderCallReconciled',
])

export type MoneyJudge = {
  /** `worstCase`: what was set aside, before the event, for the call that it is about. */
  take(event: JobEvent, worstCase: Amounts | null, after: Job, report: Report): void
}

/**
 * Adds up one job's money a second time, by the ledger, and looks that settled + held + reserved stays within each
 * limit but for what bills were above their worst case.
 */
export const moneyJudge = (): MoneyJudge => {
  let ledger = costLedger()
  let eventsInLedger = 0
  let spentBefore = nothing
  let excess = nothing

  const compare = (after: Job, report: Report): void => {
    const totals = ledger.totals()
    const spent = spentBefore === nothing ? totals.spent : plus(spentBefore, totals.spent)
    const summed: Money = { ...totals, spent }
    for (const part of ['spent', 'held', 'reserved'] as const) {
      if (alike(summed[part], after.money[part])) continue
      const inLedger = JSON.stringify(summed[part])
      report('ledger', `the ledger's lines have ${inLedger} ${part}, the job ${JSON.stringify(after.money[part])}`)
    }
  }

  const checkLimits = (after: Job, report: Report): void => {
    if (firstExceeded(after.limits, after.money, nothing) === null) return
    const exceeded = firstExceeded(widened(after.limits, excess), after.money, nothing)
    if (exceeded === null) return
    const { limit, maximum, needed } = exceeded
    report('limits', `${limit}: ${needed} is committed, over ${maximum} (recorded overruns included)`)
  }

  const startOverAtRest = (job: Job): void => {
    if (eventsInLedger < eventsInLedgerMax) return
    if (Object.keys(job.open).length > 0 || Object.keys(job.holds).length > 0) return
    spentBefore = plus(spentBefore, ledger.totals().spent)
    ledger = costLedger()
    eventsInLedger = 0
  }

  return {
    take: (event, worstCase, after, report) => {
      if (!moneyEvents.has(event.type)) return
      ledger.add(event)
      eventsInLedger += 1
      compare(after, report)
      const over = worstCase === null ? null : excessOf(worstCase, event)
      if (over !== null) excess = plus(excess, over)
      checkLimits(after, report)
      startOverAtRest(after)
    },
  }
}

const alike = (left: Amounts, right: Amounts): boolean =>
  left.costUsd === right.costUsd &&
  left.calls === right.calls &&
  left.inputTokens === right.inputTokens &&
  left.outputTokens === right.outputTokens &&
  left.examples === right.examples

/** By how much a bill is above what was set aside for it; null when it is not. */
const excessOf = (worstCase: Amounts, event: JobEvent): Amounts | null => {
  const bill = billOf(event)
  if (bill === null) return null
  const over: Amounts = {
    ...nothing,
    costUsd: above(bill.costUsd, worstCase.costUsd),
    inputTokens: Math.max(0, bill.inputTokens - worstCase.inputTokens),
    outputTokens: Math.max(0, bill.outputTokens - worstCase.outputTokens),
  }
  return alike(over, nothing) ? null : over
}

const billOf = (event: JobEvent): Pick<Amounts, 'costUsd' | 'inputTokens' | 'outputTokens'> | null => {
  if (event.type === 'ProviderCallReconciled') return event.data
  if (event.type !== 'ProviderCallSettled' || event.data.usage === null) return null
  const { costUsd, usage } = event.data
  return { costUsd, inputTokens: inputTokensOf(usage), outputTokens: usage.outputTokens }
}

const above = (bill: Usd, worstCase: Usd): Usd => {
  const excess = nanoUsd(bill) - nanoUsd(worstCase)
  return excess > 0n ? usd(excess) : zeroUsd
}

const widened = (limits: Limits, by: Amounts): Limits => ({
  ...limits,
  maximumCostUsd: limits.maximumCostUsd === null ? null : addUsd(limits.maximumCostUsd, by.costUsd),
  maximumInputTokens: limits.maximumInputTokens === null ? null : limits.maximumInputTokens + by.inputTokens,
  maximumOutputTokens: limits.maximumOutputTokens === null ? null : limits.maximumOutputTokens + by.outputTokens,
})
