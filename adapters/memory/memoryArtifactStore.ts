import { ArtifactCorrupt } from '../../domain/errors.ts'
import type { ArtifactStore } from '../../domain/ports/artifactStore.ts'
import type { Sha256 } from '../../domain/ports/hash.ts'

const pageSize = 1000

/** Artifacts in maps, one a project: the reference that the other stores are compared with. Lost with the process. */
export const memoryArtifactStore = (sha256: Sha256): ArtifactStore => {
  const projects = new Map<string, Map<string, Uint8Array>>()
  const artifactsOf = (projectId: string): ReadonlyMap<string, Uint8Array> => projects.get(projectId) ?? new Map()

  return {
    put: async (projectId, content) => {
      const name = sha256(content)
      const artifacts = projects.get(projectId) ?? new Map<string, Uint8Array>()
      projects.set(projectId, artifacts)
      // Copied on the way in and out: whoever holds the bytes may write to them.
      artifacts.set(name, new Uint8Array(content))
      return { sha256: name, bytes: content.byteLength }
    },

    get: async (projectId, name) => {
      const stored = artifactsOf(projectId).get(name)
      if (stored === undefined) return null
      if (sha256(stored) !== name) throw new ArtifactCorrupt(name, `artifact ${name} is damaged`)
      return new Uint8Array(stored)
    },

    has: async (projectId, name) => artifactsOf(projectId).has(name),

    list: async (projectId, { after = '', limit = pageSize } = {}) =>
      [...artifactsOf(projectId)]
        .map(([name, stored]) => ({ sha256: name, bytes: stored.byteLength }))
        .filter(({ sha256: name }) => name > after)
        .toSorted((a, b) => (a.sha256 < b.sha256 ? -1 : 1))
        .slice(0, limit),
  }
}
