import type { JobEvent } from '../../domain/job/events.ts'
import type { Job } from '../../domain/job/job.ts'
import { usd } from '../../domain/money.ts'
import { costOf, type ModelPrice, type PriceProfile, worstCaseCost } from '../../domain/pricing.ts'

/**
 * Whether what was set aside or billed is what the pinned prices make of the tokens, to the last digit; null when it
 * is, else a sentence. A model without a price costs nothing. `job` is the job before the event.
 */
export const costsDisagree = (job: Job | null, event: JobEvent, prices: PriceProfile | null): string | null => {
  if (event.type === 'ProviderCallReserved') {
    const { call, model, worstCase } = event.data
    const price = priceOf(prices, model)
    const worst = usd(price === null ? 0n : worstCaseCost(worstCase, price))
    return worst === worstCase.costUsd ? null : `call ${call} sets ${worstCase.costUsd} USD aside, not ${worst}`
  }
  if (event.type !== 'ProviderCallSettled' || event.data.usage === null) return null
  const { call, usage, costUsd } = event.data
  const model = (job?.open[call] ?? job?.holds[call])?.model
  if (model === undefined) return null
  const price = priceOf(prices, model)
  const cost = usd(price === null ? 0n : costOf(usage, price))
  return cost === costUsd ? null : `call ${call} costs ${costUsd} USD, and ${cost} by the job's pinned prices`
}

const priceOf = (prices: PriceProfile | null, model: string): ModelPrice | null =>
  (prices !== null && Object.hasOwn(prices.models, model) ? prices.models[model] : null) ?? null
