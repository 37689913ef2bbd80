import type { Limits } from '../../domain/job/events.ts'
import { nanoUsd, type Usd } from '../../domain/money.ts'
import type { Estimate, Foreseen, OverLimit } from '../engine.ts'

/** The limits that these calls cannot stay within, and those that they may come to. A guess is no reason for a "cannot". */
export const overLimits = (
  limits: Limits,
  total: Foreseen,
  basis: Estimate['basis'],
): Pick<Estimate, 'exceeds' | 'mayExceed'> => {
  const { calls, examples, inputTokens, outputTokens, costUsd, seconds } = total
  const counts = { maximumCalls: calls, maximumExamples: examples }
  const expected = { maximumInputTokens: inputTokens.expected, maximumOutputTokens: outputTokens.expected }
  const exceeds = above(limits, basis === 'guess' ? counts : { maximumCostUsd: costUsd.expected, ...counts, ...expected })
  const mayExceed = above(limits, {
    maximumCostUsd: costUsd.worst,
    maximumInputTokens: inputTokens.worst,
    maximumOutputTokens: outputTokens.worst,
    maximumDurationSeconds: seconds.expected,
  })
  return { exceeds, mayExceed: mayExceed.filter(({ limit }) => !exceeds.some((each) => each.limit === limit)) }
}

type Counted = Exclude<keyof Limits, 'maximumCostUsd'>
type Amounts = { readonly [Limit in Counted]?: number | null } & { readonly maximumCostUsd?: Usd | null }

const countedLimits: readonly Counted[] = [
  'maximumCalls',
  'maximumExamples',
  'maximumInputTokens',
  'maximumOutputTokens',
  'maximumDurationSeconds',
]

const above = (limits: Limits, amounts: Amounts): readonly OverLimit[] => {
  const cost = amounts.maximumCostUsd ?? null
  const most = limits.maximumCostUsd
  return [
    ...(cost !== null && most !== null && nanoUsd(cost) > nanoUsd(most)
      ? [{ limit: 'maximumCostUsd', value: cost, maximum: most } as const]
      : []),
    ...countedLimits.flatMap((limit) => {
      const value = amounts[limit] ?? null
      const maximum = limits[limit]
      return value !== null && maximum !== null && value > maximum ? [{ limit, value, maximum }] : []
    }),
  ]
}
