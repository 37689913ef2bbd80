import { PriceProfile } from '../../domain/pricing.ts'

/** Made-up prices of a small model, so that a job without a key shows costs and can run out of budget. */
export const offlinePriceProfile: PriceProfile = PriceProfile.parse({
  id: 'offline-2026-01',
  effectiveFrom: '2026-01-01',
  provider: 'offline',
  models: {
    'offline-small': { inputPerMTok: '0.50', cachedInputPerMTok: '0.05', outputPerMTok: '2.00' },
  },
})
