import { BudgetExceededError } from './errors.ts'
import type { Amounts, LimitName, Limits, RaisedLimits } from './job/events.ts'
import type { Money } from './job/job.ts'
import { addUsd, nanoUsd, subtractUsd, type Usd, usd, zeroUsd } from './money.ts'

export const nothing: Amounts = { costUsd: zeroUsd, calls: 0, inputTokens: 0, outputTokens: 0, examples: 0 }

export const plus = (left: Amounts, right: Amounts): Amounts => ({
  costUsd: addUsd(left.costUsd, right.costUsd),
  calls: left.calls + right.calls,
  inputTokens: left.inputTokens + right.inputTokens,
  outputTokens: left.outputTokens + right.outputTokens,
  examples: left.examples + right.examples,
})

/** Raises a `RangeError` when more is taken away than is there. */
export const minus = (left: Amounts, right: Amounts): Amounts => {
  const difference = {
    costUsd: subtractUsd(left.costUsd, right.costUsd),
    calls: left.calls - right.calls,
    inputTokens: left.inputTokens - right.inputTokens,
    outputTokens: left.outputTokens - right.outputTokens,
    examples: left.examples - right.examples,
  }
  for (const [name, value] of Object.entries(difference)) {
    if (typeof value === 'number' && value < 0) throw new RangeError(`${name} cannot be negative: ${value}`)
  }
  return difference
}

/** Everything that may already have to be paid for: settled, held and reserved. */
export const committed = (money: Money): Amounts => plus(plus(money.spent, money.held), money.reserved)

/** A limit that would be crossed, in the limit's own unit. */
export type Exceeded = { readonly limit: LimitName; readonly maximum: string; readonly needed: string }

/**
 * The first limit that settled + held + reserved + this call's worst case would cross, or null when all have room.
 * Exactly reaching a limit is allowed.
 */
export const firstExceeded = (limits: Limits, money: Money, next: Amounts): Exceeded | null => {
  const total = plus(committed(money), next)
  if (limits.maximumCostUsd !== null && nanoUsd(total.costUsd) > nanoUsd(limits.maximumCostUsd)) {
    return { limit: 'maximumCostUsd', maximum: limits.maximumCostUsd, needed: total.costUsd }
  }
  const counted = [
    ['maximumCalls', total.calls],
    ['maximumInputTokens', total.inputTokens],
    ['maximumOutputTokens', total.outputTokens],
    ['maximumExamples', total.examples],
  ] as const
  for (const [limit, needed] of counted) {
    const maximum = limits[limit]
    if (maximum !== null && needed > maximum) return { limit, maximum: String(maximum), needed: String(needed) }
  }
  return null
}

/**
 * Whether a call was billed above what was set aside for it: in money, or in tokens that have a limit. Only such a
 * call can carry a job over a limit.
 */
export const isOverrun = (
  limits: Limits,
  worstCase: Amounts,
  billed: { readonly costUsd: Usd; readonly inputTokens: number; readonly outputTokens: number },
): boolean =>
  nanoUsd(billed.costUsd) > nanoUsd(worstCase.costUsd) ||
  (limits.maximumInputTokens !== null && billed.inputTokens > worstCase.inputTokens) ||
  (limits.maximumOutputTokens !== null && billed.outputTokens > worstCase.outputTokens)

/** Raises `BudgetExceededError` before a limit is crossed. */
export const check = (limits: Limits, money: Money, next: Amounts): void => {
  const exceeded = firstExceeded(limits, money, next)
  if (exceeded !== null) throw new BudgetExceededError('budget_exhausted', exceededMessage(exceeded), { ...exceeded })
}

export const exceededMessage = (exceeded: Exceeded): string =>
  `${exceeded.limit} is ${exceeded.maximum}; with this call at its worst it would be ${exceeded.needed}`

/** The first of the new totals that is below the limit now, or null. Null means no cap, above every other. */
export const firstLowered = (limits: Limits, raised: RaisedLimits): LimitName | null => {
  const costly = raised.maximumCostUsd
  if (typeof costly === 'string' && (limits.maximumCostUsd === null || nanoUsd(costly) < nanoUsd(limits.maximumCostUsd))) {
    return 'maximumCostUsd'
  }
  for (const name of countedLimits) {
    const next = raised[name]
    const now = limits[name]
    if (typeof next === 'number' && (now === null || next < now)) return name
  }
  return null
}

const countedLimits = [
  'maximumCalls',
  'maximumInputTokens',
  'maximumOutputTokens',
  'maximumDurationSeconds',
  'maximumExamples',
] as const

/** The defaults of a job that names no limit. Tokens and duration are not capped. */
export const defaultLimits: Limits = {
  maximumCostUsd: usd(50_000_000_000n),
  maximumCalls: 10_000,
  maximumInputTokens: null,
  maximumOutputTokens: null,
  maximumDurationSeconds: null,
  maximumExamples: 2_500,
}

const uncapped = { maximumCostUsd: null, maximumCalls: null, maximumInputTokens: null, maximumOutputTokens: null }

/** The same for examples alone, which are paid for already. */
export const examplesExceeded = (limits: Limits, money: Money, count: number): Exceeded | null =>
  firstExceeded({ ...limits, ...uncapped }, money, { ...nothing, examples: count })
