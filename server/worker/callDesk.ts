import { canonical } from '../../domain/canonical.ts'
import { ProviderError } from '../../domain/errors.ts'
import type { CallRequest, Provider } from '../../domain/ports/provider.ts'
import type { ModelPrice } from '../../domain/pricing.ts'
import type { Desk } from './desk.ts'

/** A desk that has a provider to ask. */
export type CallDesk = Desk & { readonly provider: Provider }

export type KeyedRequest = {
  readonly stage: string
  readonly key: string
  readonly request: CallRequest
  readonly examples: number
}

/** What a call is known by: the same question of the same stage under the same key. */
export const fingerprintOf = (desk: Pick<CallDesk, 'spec' | 'sha256'>, call: KeyedRequest): string =>
  desk.sha256(
    canonical({ provider: desk.spec.provider, stage: call.stage, key: call.key, request: call.request }),
  )

/** Null for a model that was allowed to go unpriced. */
export const priceOf = (desk: Pick<CallDesk, 'spec' | 'prices'>, model: string): ModelPrice | null => {
  const prices = desk.prices
  const price = prices !== null && Object.hasOwn(prices.models, model) ? prices.models[model] : undefined
  if (price !== undefined) return price
  if (desk.spec.allowUnpriced.includes(model)) return null
  throw new ProviderError({
    code: 'unpriced_model',
    message: `model ${model} has no price in the job's profile, and was not allowed without one`,
    kind: 'invalid_input',
    billed: 'no',
  })
}
