import type { LimitName } from '../../domain/job/events.ts'

/** The option that sets each limit. */
export const limitFlag: Readonly<Record<LimitName, string>> = {
  maximumCostUsd: '--budget-usd',
  maximumCalls: '--max-calls',
  maximumInputTokens: '--max-input-tokens',
  maximumOutputTokens: '--max-total-output-tokens',
  maximumDurationSeconds: '--max-duration',
  maximumExamples: '--max-examples',
}
