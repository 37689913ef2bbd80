import type { Clock } from '../../domain/ports/clock.ts'
import type { Position } from '../../domain/ports/eventStore.ts'
import { pageOfLog, type PageOfLog } from './pageOfLog.ts'
import type { ProjectedView, ViewDeps } from './projectedView.ts'
import { turn } from './turn.ts'

/** A view and whether it is built before the others: whatever the loops look at. */
export type Lane = { readonly view: ProjectedView; readonly isFirst: boolean }

export type CatchingUp = {
  /** Folds the next page, or waits for whoever is at it. Answers false when every view has the whole log. */
  step(signal: AbortSignal): Promise<boolean>
  /** Has the next step look at the store, where somebody may have moved or removed a view. */
  distrust(): void
}

export const catchingUp = (
  lanes: readonly Lane[],
  deps: ViewDeps & { readonly clock: Clock; readonly pageSize: number; readonly patienceMs: number },
  on: { folded(view: ProjectedView, events: number): void; complete(view: ProjectedView): Promise<void> },
): CatchingUp => {
  const ours = turn(deps.clock, deps.patienceMs)
  let isTrusted = false

  const refresh = async (): Promise<boolean> => {
    let hasMoved = false
    for (const { view } of lanes) hasMoved = (await view.refresh()) || hasMoved
    return hasMoved
  }

  /** The first view that is not at the end, with the page it needs. */
  const behind = async (): Promise<{ lane: Lane; page: PageOfLog } | null> => {
    const pages = new Map<Position, PageOfLog>()
    for (const lane of lanes) {
      for (;;) {
        const after = lane.view.scannedTo()
        const page = pages.get(after) ?? (await pageOfLog(deps.events, deps.log, { after, limit: deps.pageSize }))
        pages.set(after, page)
        if (page.stored.length > 0) return { lane, page }
        await lane.view.fold(page)
        if (page.atEnd) break
      }
      await on.complete(lane.view)
    }
    return null
  }

  /**
   * A page serves every view that needs it. Only in a backlog are the first ones alone, so that the loops do not wait
   * for views that take longer.
   */
  const foldAll = async ({ lane, page }: { lane: Lane; page: PageOfLog }): Promise<boolean> => {
    const after = lane.view.scannedTo()
    for (const { view, isFirst } of lanes) {
      if (view.scannedTo() !== after || (isFirst !== lane.isFirst && !page.atEnd)) continue
      if (!(await view.fold(page))) return false
      on.folded(view, page.stored.length)
      if (page.atEnd) await on.complete(view)
    }
    return true
  }

  return {
    distrust: () => {
      isTrusted = false
    },
    step: async (signal) => {
      if (!isTrusted || !ours.isMine()) await refresh()
      const next = await behind()
      isTrusted = true
      if (next === null) return false
      if (!ours.isMine()) {
        await ours.take(refresh, signal)
        return true
      }
      if (!(await foldAll(next))) {
        ours.lose()
        isTrusted = false
      }
      // Stores may answer without ever letting anything else run.
      if (!next.page.atEnd) await deps.clock.sleep(0, signal)
      return true
    },
  }
}
