import type {
  ListPlace,
  Snapshot,
  SnapshotStore,
  ViewCheckpoint,
  ViewDocument,
  ViewStore,
} from '../../domain/ports/viewStore.ts'
import { byCodePoint } from './textOrder.ts'

type View = {
  readonly name: string
  readonly version: number
  readonly checkpoint: ViewCheckpoint
  readonly documents: Map<string, ViewDocument>
}

const listPageSize = 100
const scanPageSize = 1000

/** Views and snapshots in maps: the reference that the other stores are compared with. Lost with the process. */
export const memoryViewStore = (): ViewStore & SnapshotStore => {
  const views = new Map<string, View>()
  const snapshots = new Map<string, Snapshot>()
  const viewOf = (projection: string, version: number): View | undefined => views.get(nameOf(projection, version))
  const documentsOf = (projection: string, version: number): ReadonlyMap<string, ViewDocument> =>
    viewOf(projection, version)?.documents ?? new Map()

  return {
    checkpoint: async (projection, version) => viewOf(projection, version)?.checkpoint ?? null,

    load: async (projection, version, keys) => {
      const documents = documentsOf(projection, version)
      return [...new Set(keys)].flatMap((key) => documents.get(key) ?? [])
    },

    commit: async (projection, version, { from, to }, changes) => {
      const current = viewOf(projection, version)
      if (!isSame(current?.checkpoint ?? null, from)) return false
      const documents = current?.documents ?? new Map<string, ViewDocument>()
      for (const change of changes) {
        if (change.kind === 'put') documents.set(change.document.key, change.document)
        else documents.delete(change.key)
      }
      views.set(nameOf(projection, version), { name: projection, version, checkpoint: to, documents })
      return true
    },

    query: async (projection, version, { term, after, limit = listPageSize }) =>
      [...documentsOf(projection, version).values()]
        .filter((document) => document.terms.includes(term))
        .toSorted(byPlace)
        .filter((document) => after === undefined || byPlace(document, after) > 0)
        .slice(0, limit),

    scan: async (projection, version, { after, limit = scanPageSize } = {}) =>
      [...documentsOf(projection, version).values()]
        .toSorted((a, b) => byCodePoint(a.key, b.key))
        .filter((document) => after === undefined || byCodePoint(document.key, after) > 0)
        .slice(0, limit),

    drop: async (projection, version) => {
      views.delete(nameOf(projection, version))
    },

    list: async () =>
      [...views.values()]
        .toSorted((a, b) => byCodePoint(a.name, b.name) || a.version - b.version)
        .map(({ name, version, checkpoint, documents }) => ({ name, version, checkpoint, documents: documents.size })),

    loadSnapshot: async (stream) => snapshots.get(stream) ?? null,

    saveSnapshot: async (stream, snapshot) => {
      const stored = snapshots.get(stream)
      if (stored?.foldVersion === snapshot.foldVersion && stored.revision > snapshot.revision) return
      snapshots.set(stream, snapshot)
    },

    close: async () => {},
  }
}

const nameOf = (projection: string, version: number): string => JSON.stringify([projection, version])

const byPlace = (a: ListPlace, b: ListPlace): number => byCodePoint(a.sort, b.sort) || byCodePoint(a.key, b.key)

const isSame = (a: ViewCheckpoint | null, b: ViewCheckpoint | null): boolean =>
  a === null || b === null ? a === b : a.position === b.position && a.eventId === b.eventId
