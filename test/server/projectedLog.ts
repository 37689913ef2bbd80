import type { Position, EventStore, SealedEvent } from '../../domain/ports/eventStore.ts'
import { jobStream } from '../../domain/ids.ts'
import type { ViewDocument, ViewStore } from '../../domain/ports/viewStore.ts'
import type { LogEvent, Projection } from '../../projections/projection.ts'
import { projections } from '../../server/projector/projections.ts'
import { diceOf, randomLog } from '../projections/randomLog.ts'

export const everyProjection: readonly Projection<unknown>[] = projections.all

export const sealed = (event: LogEvent): SealedEvent => ({
  id: event.id,
  stream: jobStream(event.jobId),
  revision: event.revision,
  type: event.type === 'Unknown' ? event.storedType : event.type,
  schemaVersion: event.schemaVersion,
  recordedAt: event.recordedAt,
  data: JSON.stringify(event.data),
  meta: JSON.stringify(event.meta),
  hash: event.hash,
})

export const appendAll = async (store: EventStore, events: readonly LogEvent[]): Promise<Position> => {
  for (const event of events) {
    const stored = sealed(event)
    await store.append(stored.stream, [stored], stored.revision === 0 ? 'no-stream' : stored.revision - 1)
  }
  return store.head()
}

/** Events of several jobs at once. */
export const someEvents = (seed: number, steps: number): readonly LogEvent[] =>
  randomLog(diceOf(seed), { jobs: 12, steps }).map(({ event }) => event)

/** What a view holds: its documents in order of key. */
export const contentOf = async (
  views: ViewStore,
  { name, version }: Projection<unknown>,
): Promise<readonly ViewDocument[]> => {
  const documents: ViewDocument[] = []
  for (;;) {
    const after = documents.at(-1)?.key
    const page = await views.scan(name, version, after === undefined ? {} : { after })
    if (page.length === 0) return documents
    documents.push(...page)
  }
}

export const contentsOf = async (views: ViewStore): Promise<Record<string, readonly ViewDocument[]>> =>
  Object.fromEntries(
    await Promise.all(everyProjection.map(async (each) => [each.name, await contentOf(views, each)] as const)),
  )

/** What the projections make of these events, told by nothing but themselves. */
export const foldedBy = (events: readonly LogEvent[]): Record<string, readonly ViewDocument[]> =>
  Object.fromEntries(
    everyProjection.map((projection) => {
      const folded = new Map<string, unknown>()
      for (const event of events) {
        const key = projection.keyOf(event)
        if (key === null) continue
        const view = projection.project(folded.get(key) ?? null, event)
        if (view === null) folded.delete(key)
        else folded.set(key, view)
      }
      const documents = [...folded]
        .map(([key, view]) => ({ key, value: JSON.stringify(view), ...projection.place(view) }))
        .toSorted((left, right) => (left.key < right.key ? -1 : 1))
      return [projection.name, documents]
    }),
  )
