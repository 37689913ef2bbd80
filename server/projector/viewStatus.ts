import { beforeAll, type Position } from '../../domain/ports/eventStore.ts'
import type { ProjectedView, ViewDeps } from './projectedView.ts'

/**
 * Which version of a view answers queries. While a new version is built, the one before is served: frozen, and with
 * documents as its own program wrote them.
 */
export type ServedView = { readonly version: number; readonly stale: boolean }

export type ViewStatus = {
  readonly name: string
  readonly version: number
  /** Null before the first event. */
  readonly position: Position | null
  readonly head: Position
  readonly upToDate: boolean
  readonly documents: number
  readonly served: ServedView
}

type Stored = Awaited<ReturnType<ViewDeps['views']['list']>>

/** `isComplete`: this process has seen the view with the whole log. */
export const servedOf = (view: ProjectedView, isComplete: boolean, stored: Stored): ServedView => {
  const { name, version } = view.projection
  if (isComplete) return { version, stale: false }
  const older = stored.filter((each) => each.name === name && each.version < version).map((each) => each.version)
  return { version: older.length === 0 ? version : Math.max(...older), stale: true }
}

export const statusOf = (
  view: ProjectedView,
  { isComplete, stored, head }: { isComplete: boolean; stored: Stored; head: Position },
): ViewStatus => {
  const { name, version } = view.projection
  const found = stored.find((each) => each.name === name && each.version === version)
  const position = found?.checkpoint.position ?? null
  return {
    name,
    version,
    position,
    head,
    // The log may end with events that are of no view's concern.
    upToDate: (position ?? beforeAll) >= head || view.scannedTo() >= head,
    documents: found?.documents ?? 0,
    served: servedOf(view, isComplete, stored),
  }
}
