import { ArtifactCorrupt, type StoreUnavailable } from '../../domain/errors.ts'
import { type ArtifactRef, type Content, inlineBytesMax } from '../../domain/job/events.ts'
import type { ArtifactStore } from '../../domain/ports/artifactStore.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import { patiently } from './patiently.ts'

/** The stored bytes are gone or are not what they were: nothing that waiting would mend. */
export class ContentMissing extends Error {
  readonly ref: ArtifactRef
  readonly reason: 'missing' | 'corrupt'
  constructor(ref: ArtifactRef, reason: 'missing' | 'corrupt') {
    super(`artifact ${ref.sha256} is ${reason}`)
    this.name = 'ContentMissing'
    this.ref = ref
    this.reason = reason
  }
}

/** JSON values and bytes of one project, kept where they fit: in the event, or beside the log. */
export type Contents = {
  /** Durable when this resolves. The value must be plain JSON. */
  keep(value: unknown): Promise<Content>
  read(content: Content): Promise<unknown>
  putBytes(bytes: Uint8Array, mediaType: string): Promise<ArtifactRef>
  /** Raises `ContentMissing`. */
  getBytes(ref: ArtifactRef): Promise<Uint8Array>
}

/** An artifact store that is away is waited for until `abandon` aborts; then `StoreUnavailable` is raised. */
export const contents = (
  deps: {
    readonly artifacts: ArtifactStore
    readonly clock: Clock
    onTrouble(error: StoreUnavailable): void
  },
  projectId: string,
  abandon: AbortSignal,
): Contents => {
  const ask = <T>(verb: () => Promise<T>): Promise<T> => patiently(deps, abandon, verb)

  const putBytes = async (bytes: Uint8Array, mediaType: string): Promise<ArtifactRef> => {
    const name = await ask(() => deps.artifacts.put(projectId, bytes))
    return { ...name, mediaType }
  }

  const getBytes = async (ref: ArtifactRef): Promise<Uint8Array> => {
    try {
      const bytes = await ask(() => deps.artifacts.get(projectId, ref.sha256))
      if (bytes !== null) return bytes
    } catch (error) {
      if (!(error instanceof ArtifactCorrupt)) throw error
      throw new ContentMissing(ref, 'corrupt')
    }
    throw new ContentMissing(ref, 'missing')
  }

  return {
    putBytes,
    getBytes,
    async keep(value) {
      const text = JSON.stringify(value ?? null)
      const bytes = new TextEncoder().encode(text)
      if (bytes.length <= inlineBytesMax) {
        const json: unknown = JSON.parse(text)
        return { json }
      }
      return { artifact: await putBytes(bytes, 'application/json') }
    },
    async read(content) {
      if ('json' in content) return content.json
      const value: unknown = JSON.parse(new TextDecoder().decode(await getBytes(content.artifact)))
      return value
    },
  }
}
