import type { ModelPrice, PriceProfile } from '../../../domain/pricing.ts'
import { readUsd, zeroUsd } from '../../../domain/money.ts'

/** The provider as the demo's configuration names it. */
export const providerName = 'offline-server'
export const model = 'offline-small'

/** Made up, so that the demo has something to pay. */
export const price: ModelPrice = { inputPerMTok: '2.00', cachedInputPerMTok: '0.20', outputPerMTok: '8.00' }

export const demoPrices: PriceProfile = {
  id: 'demo-prices',
  effectiveFrom: '2020-01-01',
  provider: providerName,
  models: { [model]: price },
}

export const budgetUsd = readUsd('1') ?? zeroUsd
/** Examples wanted, and small chunks, so that there are calls enough to be killed among. */
export const target = 110
export const parameters = { chunkTokens: 90 }
export const callsAtOnce = 4

/** Long enough that a kill always finds calls open, short enough that nobody waits long. */
export const latencyMs = 100

/** How long the demo's provider repeats an answer for its idempotency key instead of working, and billing, anew. */
export const replaysForSeconds = 600

/** Seconds. The killed worker's lease ends at once all the same: on one machine its process is seen to be gone. */
export const leaseSeconds = 10

/** A demo that takes longer than this is stuck, in milliseconds. */
export const patienceMs = 120_000
