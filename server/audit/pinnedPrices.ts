import { StoreUnavailable } from '../../domain/errors.ts'
import type { JobSpec } from '../../domain/job/events.ts'
import type { ArtifactStore } from '../../domain/ports/artifactStore.ts'
import type { Sha256 } from '../../domain/ports/hash.ts'
import { PriceProfile } from '../../domain/pricing.ts'
import { inWords } from './inWords.ts'

/** What a job's costs are judged by: its pinned profile (null: it has none), or why they cannot be. */
export type Pinned = { readonly prices: PriceProfile | null } | { readonly unreadable: string }

export type PinnedPrices = (spec: JobSpec) => Promise<Pinned>

/** Each profile is read once, however many jobs have pinned it. Raises `StoreUnavailable`. */
export const pinnedPrices = (deps: { artifacts: ArtifactStore; sha256: Sha256 }): PinnedPrices => {
  const known = new Map<string, Pinned>()

  const read = async (projectId: string, sha256: string): Promise<Pinned> => {
    try {
      const bytes = await deps.artifacts.get(projectId, sha256)
      if (bytes === null) return { unreadable: 'it is not in the store' }
      if (deps.sha256(bytes) !== sha256) return { unreadable: 'it holds other bytes than its name says' }
      return { prices: PriceProfile.parse(JSON.parse(new TextDecoder().decode(bytes))) }
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      return { unreadable: inWords(error) }
    }
  }

  return async ({ projectId, priceProfile }) => {
    if (priceProfile === null) return { prices: null }
    const key = `${projectId}/${priceProfile.sha256}`
    const pinned = known.get(key) ?? (await read(projectId, priceProfile.sha256))
    known.set(key, pinned)
    return pinned
  }
}
