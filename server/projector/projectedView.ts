import { beforeAll, type EventStore, type Position } from '../../domain/ports/eventStore.ts'
import type { ViewCheckpoint, ViewStore } from '../../domain/ports/viewStore.ts'
import type { Projection } from '../../projections/projection.ts'
import type { Telemetry } from '../telemetry.ts'
import { foldPage, ViewCorrupt } from './foldPage.ts'
import type { PageOfLog } from './pageOfLog.ts'
import { checkpointAt, whyRebuild } from './viewMark.ts'

export type ViewDeps = {
  readonly events: EventStore
  readonly views: ViewStore
  readonly log: Pick<Telemetry, 'trouble' | 'fault' | 'info'>
}

/**
 * One view, and how far this process knows it to be. Any number of processes may fold the same one: each commit is
 * guarded by the checkpoint that it goes on from.
 */
export type ProjectedView = {
  readonly projection: Projection<unknown>
  checkpoint(): ViewCheckpoint | null
  /** The view has everything up to here: its checkpoint, or further where nothing behind that is of its concern. */
  scannedTo(): Position
  /**
   * Looks how far the view is in the store. Answers whether it is elsewhere than this process left it. A view of
   * another log, or of a program that could read less, is dropped.
   */
  refresh(): Promise<boolean>
  /** Has the next `refresh` ask the log again whether the view is its own. */
  doubt(): void
  /** Folds a page that was read from `scannedTo`. Answers false when the view has to be looked at anew first. */
  fold(page: PageOfLog): Promise<boolean>
  drop(): Promise<void>
}

const emptyView: Pick<ViewStore, 'load'> = { load: async () => [] }

export const projectedView = (projection: Projection<unknown>, { events, views, log }: ViewDeps): ProjectedView => {
  const { name, version } = projection
  let checkpoint: ViewCheckpoint | null = null
  let scannedTo = beforeAll
  let isProven = false

  const stand = (at: ViewCheckpoint | null): void => {
    checkpoint = at
    scannedTo = at?.position ?? beforeAll
  }

  const drop = async (): Promise<void> => {
    await views.drop(name, version)
    stand(null)
  }

  const prove = async (): Promise<void> => {
    if (isProven) return
    const why = checkpoint === null ? null : await whyRebuild(events, checkpoint)
    if (why !== null) {
      // Somebody else may have built it anew while we asked.
      const isStill = isSameCheckpoint(checkpoint, await views.checkpoint(name, version))
      if (!isStill) return
      log.info(`view ${name} is built anew: ${why}`)
      await drop()
    }
    isProven = true
  }

  return {
    projection,
    checkpoint: () => checkpoint,
    scannedTo: () => scannedTo,

    refresh: async () => {
      const found = await views.checkpoint(name, version)
      const hasMoved = !isSameCheckpoint(found, checkpoint)
      if (hasMoved) {
        if (found === null) log.info(`view ${name} is gone: it is built anew`)
        stand(found)
      }
      await prove()
      return hasMoved
    },

    doubt: () => {
      isProven = false
    },

    fold: async (page) => {
      const last = page.stored.at(-1)
      if (last === undefined) {
        scannedTo = page.scannedTo
        return true
      }
      try {
        // A view without a checkpoint is empty. What is found there all the same belongs to one that is gone by the time
        // of the commit, and what is left out as unchanged would be missing.
        const stored = checkpoint === null ? emptyView : views
        const changes = await foldPage(projection, page.events, { views: stored, log })
        const to = checkpointAt(last, checkpoint, page.unknown)
        if (!(await views.commit(name, version, { from: checkpoint, to }, changes))) return false
        checkpoint = to
        scannedTo = page.scannedTo
        return true
      } catch (error) {
        if (!(error instanceof ViewCorrupt)) throw error
        log.fault(`view ${name} is built anew`, error)
        await drop()
        return false
      }
    },

    drop,
  }
}

export const isSameCheckpoint = (left: ViewCheckpoint | null, right: ViewCheckpoint | null): boolean =>
  left?.position === right?.position && left?.eventId === right?.eventId
