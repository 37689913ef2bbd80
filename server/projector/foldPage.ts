import type { ViewChange, ViewDocument, ViewStore } from '../../domain/ports/viewStore.ts'
import type { LogEvent, Projection } from '../../projections/projection.ts'
import type { Telemetry } from '../telemetry.ts'

/** A stored document does not fit its own schema: the view has to be built anew. */
export class ViewCorrupt extends Error {
  constructor(view: string, key: string, why: string) {
    super(`document ${key} of view ${view} is corrupt: ${why}`)
    this.name = 'ViewCorrupt'
  }
}

/**
 * What these events change in a view. Documents are loaded once, however many events they have, and each is written
 * as one JSON text. Raises `ViewCorrupt`.
 */
export const foldPage = async (
  projection: Projection<unknown>,
  events: readonly LogEvent[],
  { views, log }: { readonly views: Pick<ViewStore, 'load'>; readonly log: Pick<Telemetry, 'fault'> },
): Promise<readonly ViewChange[]> => {
  const touched = byDocument(projection, events)
  if (touched.size === 0) return []
  const stored = new Map<string, ViewDocument>()
  for (const document of await views.load(projection.name, projection.version, [...touched.keys()])) {
    stored.set(document.key, document)
  }
  return [...touched].flatMap(([key, own]): readonly ViewChange[] => {
    const before = stored.get(key) ?? null
    const after = folded(projection, { key, before, events: own }, log)
    if (after === null) return before === null ? [] : [{ kind: 'remove', key }]
    return before !== null && isSameDocument(before, after) ? [] : [{ kind: 'put', document: after }]
  })
}

const byDocument = (
  projection: Projection<unknown>,
  events: readonly LogEvent[],
): ReadonlyMap<string, readonly LogEvent[]> => {
  const touched = new Map<string, LogEvent[]>()
  for (const event of events) {
    const key = projection.keyOf(event)
    if (key === null) continue
    const own = touched.get(key)
    if (own === undefined) touched.set(key, [event])
    else own.push(event)
  }
  return touched
}

const folded = (
  projection: Projection<unknown>,
  { key, before, events }: { key: string; before: ViewDocument | null; events: readonly LogEvent[] },
  log: Pick<Telemetry, 'fault'>,
): ViewDocument | null => {
  let view = before === null ? null : parsed(projection, before)
  for (const event of events) {
    try {
      view = projection.project(view, event)
    } catch (error) {
      // An event that no legal log holds must not stop the views of all other jobs.
      log.fault(`view ${projection.name} skips event ${event.id}, revision ${event.revision} of job ${event.jobId}`, error)
    }
  }
  try {
    return view === null ? null : documentOf(projection, key, view)
  } catch (error) {
    // Stored, it would be taken for corrupt, and the view be built anew for ever.
    log.fault(`view ${projection.name} keeps document ${key} as it was: the new one breaks its own schema`, error)
    return before
  }
}

/** As its schema orders it, so that equal documents are equal texts however they came about. */
const documentOf = (projection: Projection<unknown>, key: string, view: unknown): ViewDocument => {
  const document = projection.schema.parse(view)
  return { key, value: JSON.stringify(document), ...projection.place(document) }
}

const parsed = (projection: Projection<unknown>, document: ViewDocument): unknown => {
  try {
    return projection.schema.parse(JSON.parse(document.value))
  } catch (error) {
    throw new ViewCorrupt(projection.name, document.key, error instanceof Error ? error.message : String(error))
  }
}

/** Byte for byte, and found in the same places. */
export const isSameDocument = (left: ViewDocument, right: ViewDocument): boolean =>
  left.value === right.value &&
  left.sort === right.sort &&
  left.terms.length === right.terms.length &&
  left.terms.every((term, index) => term === right.terms[index])
