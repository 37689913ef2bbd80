import { firstExceeded, nothing, plus } from '../../domain/budget.ts'
import type { Amounts, JobEvent, Limits } from '../../domain/job/events.ts'
import type { Job, Money } from '../../domain/job/job.ts'
import { addUsd, nanoUsd, type Usd, usd } from '../../domain/money.ts'
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

export type MoneyJudge = { take(before: Job | null, event: JobEvent, after: Job, report: Report): void }

/**
 * Adds up one job's money a second time, by the ledger, and looks that settled + held + reserved stays within each
 * limit but for what bills were above their worst case.
 */
export const moneyJudge = (): MoneyJudge => {
  let ledger = costLedger()
  let eventsInLedger = 0
  let spentBefore = nothing
  let excess = nothing

  const startOverAtRest = (job: Job): void => {
    if (eventsInLedger < eventsInLedgerMax) return
    if (Object.keys(job.open).length > 0 || Object.keys(job.holds).length > 0) return
    spentBefore = plus(spentBefore, ledger.totals().spent)
    ledger = costLedger()
    eventsInLedger = 0
  }

  return {
    take: (before, event, after, report) => {
      if (!moneyEvents.has(event.type)) return
      ledger.add(event)
      eventsInLedger += 1
      excess = plus(excess, excessOf(before, event, after))
      const totals = ledger.totals()
      const summed: Money = { ...totals, spent: plus(spentBefore, totals.spent) }
      for (const part of ['spent', 'held', 'reserved'] as const) {
        if (alike(summed[part], after.money[part])) continue
        const inLedger = JSON.stringify(summed[part])
        report('ledger', `the ledger's lines have ${inLedger} ${part}, the job ${JSON.stringify(after.money[part])}`)
      }
      const exceeded = firstExceeded(after.limits, after.money, nothing) && firstExceeded(widened(after.limits, excess), after.money, nothing)
      if (exceeded !== null) {
        const { limit, maximum, needed } = exceeded
        report('limits', `${limit}: ${needed} is committed, over ${maximum} (recorded overruns included)`)
      }
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

/** By how much a bill was above what had been set aside for it. */
const excessOf = (before: Job | null, event: JobEvent, after: Job): Amounts => {
  if (before === null || (event.type !== 'ProviderCallSettled' && event.type !== 'ProviderCallReconciled')) return nothing
  const worst = (before.open[event.data.call] ?? before.holds[event.data.call])?.worstCase ?? nothing
  const [was, is] = [before.money.spent, after.money.spent]
  const tokens = (name: 'inputTokens' | 'outputTokens'): number => Math.max(0, is[name] - was[name] - worst[name])
  return { ...nothing, costUsd: above(is.costUsd, was.costUsd, worst.costUsd), inputTokens: tokens('inputTokens'), outputTokens: tokens('outputTokens') }
}

const above = (is: Usd, was: Usd, worst: Usd): Usd => {
  const excess = nanoUsd(is) - nanoUsd(was) - nanoUsd(worst)
  return usd(excess > 0n ? excess : 0n)
}

const widened = (limits: Limits, by: Amounts): Limits => ({
  ...limits,
  maximumCostUsd: limits.maximumCostUsd === null ? null : addUsd(limits.maximumCostUsd, by.costUsd),
  maximumInputTokens: limits.maximumInputTokens === null ? null : limits.maximumInputTokens + by.inputTokens,
  maximumOutputTokens: limits.maximumOutputTokens === null ? null : limits.maximumOutputTokens + by.outputTokens,
})
