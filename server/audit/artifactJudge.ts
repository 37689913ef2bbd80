import { ArtifactCorrupt, StoreUnavailable } from '../../domain/errors.ts'
import type { ArtifactStore } from '../../domain/ports/artifactStore.ts'
import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import type { Sha256 } from '../../domain/ports/hash.ts'
import type { Finding } from '../engine.ts'
import { findingAt } from './findings.ts'
import { inWords } from './inWords.ts'
import { type Reference, referencesIn } from './references.ts'

const readsAtOnce = 8
/** Larger documents are checked by their hash alone. */
const searchedBytesMax = 8 * 1_024 * 1_024

/** How many bytes are stored under a name, or what is wrong with them. */
type Verdict = number | { readonly rule: 'artifact_missing' | 'artifact_corrupt'; readonly message: string }
type Noted = { readonly projectId: string; readonly reference: Reference; readonly event: StoredEvent }

export type ArtifactJudge = {
  /** Resolves when the store can take more; the finding comes at the end. Raises `StoreUnavailable`. */
  note(projectId: string, reference: Reference, event: StoredEvent): Promise<void>
  /** The log itself says that this job has lost the artifact: nothing that was noted before is a finding. */
  acknowledge(stream: string, sha256: string): Promise<void>
  /** How many artifacts were looked at, and the first event of each stream that misses one of them. */
  verdict(): Promise<{ readonly checked: number; readonly findings: readonly Finding[] }>
}

/**
 * Reads every artifact once, whoever refers to it, and with it those that its JSON refers to. An unreachable store is
 * a fault, never "missing".
 */
export const artifactJudge = (deps: { artifacts: ArtifactStore; sha256: Sha256 }): ArtifactJudge => {
  const verdicts = new Map<string, Verdict | Promise<Verdict>>()
  const troubles = new Map<string, Finding>()
  const queue: Noted[] = []

  const read = async ({ projectId, reference, event }: Noted): Promise<Verdict> => {
    const { sha256, mediaType } = reference
    const corrupt = (why: string): Verdict => ({ rule: 'artifact_corrupt', message: `artifact ${sha256} ${why}` })
    const otherBytes = 'holds other bytes than its name says'
    try {
      const bytes = await deps.artifacts.get(projectId, sha256)
      if (bytes === null) return { rule: 'artifact_missing', message: `artifact ${sha256} is not in the store` }
      if (deps.sha256(bytes) !== sha256) return corrupt(otherBytes)
      if (mediaType === 'application/json' && bytes.length <= searchedBytesMax) {
        for (const inner of referencesIn(jsonOf(bytes))) queue.push({ projectId, reference: inner, event })
      }
      return bytes.length
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      return corrupt(error instanceof ArtifactCorrupt ? otherBytes : `cannot be read: ${inWords(error)}`)
    }
  }

  const check = async (noted: Noted): Promise<void> => {
    const { projectId, reference, event } = noted
    const key = `${projectId}/${reference.sha256}`
    const reading = verdicts.get(key) ?? read(noted)
    verdicts.set(key, reading)
    const verdict = await reading
    verdicts.set(key, verdict)
    const trouble = `${event.stream}/${reference.sha256}`
    if (troubles.has(trouble)) return
    if (typeof verdict !== 'number') {
      troubles.set(trouble, findingAt(event, verdict.rule, verdict.message))
    } else if (reference.bytes !== undefined && reference.bytes !== verdict) {
      const message = `artifact ${reference.sha256} has ${verdict} bytes, not ${reference.bytes}`
      troubles.set(trouble, findingAt(event, 'artifact_size', message))
    }
  }

  const catchUp = async (): Promise<void> => {
    while (queue.length > 0) await Promise.all(queue.splice(0, readsAtOnce).map(check))
  }

  return {
    note: async (projectId, reference, event) => {
      queue.push({ projectId, reference, event })
      if (queue.length >= readsAtOnce) await catchUp()
    },
    acknowledge: async (stream, sha256) => {
      await catchUp()
      troubles.delete(`${stream}/${sha256}`)
    },
    verdict: async () => {
      await catchUp()
      return { checked: verdicts.size, findings: [...troubles.values()] }
    },
  }
}

const jsonOf = (bytes: Uint8Array): unknown => {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(bytes))
    return value
  } catch {
    // A user's own file may call itself JSON and be none: it refers to nothing.
    return null
  }
}
