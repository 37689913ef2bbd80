import type { Clock } from '../../domain/ports/clock.ts'
import { beforeAll } from '../../domain/ports/eventStore.ts'
import type { ViewChange, ViewCheckpoint, ViewDocument } from '../../domain/ports/viewStore.ts'
import type { Projection } from '../../projections/projection.ts'
import type { BuildProgress } from './buildProgress.ts'
import { isSameDocument } from './foldPage.ts'
import { pageOfLog } from './pageOfLog.ts'
import { isSameCheckpoint, projectedView, type ViewDeps } from './projectedView.ts'
import { repairedAt } from './viewMark.ts'

/** A document as it is stored and as the log folds to it. Null: there is none. */
export type Difference = { readonly key: string; readonly stored: string | null; readonly folded: string | null }

type Pair = { readonly key: string; readonly stored: ViewDocument | null; readonly folded: ViewDocument | null }

type ShadowDeps = ViewDeps & {
  readonly clock: Clock
  readonly pageSize: number
  readonly signal: AbortSignal
  onProgress: ((progress: BuildProgress) => void) | undefined
}

const retryMs = 50

export const shadowNameOf = (name: string, purpose: 'rebuild' | 'verify'): string => `${name}~${purpose}`

/**
 * A second fold of the log, kept in the view store beside the view it is compared with, so that neither its size nor
 * an interruption matters. The view goes on meanwhile; what is compared stands at one checkpoint on both sides.
 */
export const shadowOf = (projection: Projection<unknown>, purpose: 'rebuild' | 'verify', deps: ShadowDeps) => {
  const { events, views, log, clock, signal, pageSize } = deps
  const { name, version } = projection
  const shadowName = shadowNameOf(name, purpose)
  const shadow = projectedView({ ...projection, name: shadowName }, deps)
  let folded = 0

  const report = (done: boolean): void =>
    deps.onProgress?.({ projection: name, position: shadow.scannedTo(), events: folded, done })

  const foldTo = async (until: string): Promise<void> => {
    while (shadow.scannedTo() < until) {
      signal.throwIfAborted()
      const page = await pageOfLog(events, log, { after: shadow.scannedTo(), until, limit: pageSize })
      // Somebody else does the same: go on from where they are.
      if (!(await shadow.fold(page))) await shadow.refresh()
      folded += page.stored.length
      report(false)
      await clock.sleep(0, signal)
    }
  }

  /** Does something while view and shadow stand at one checkpoint. Null from `work`: one has moved, once more. */
  const atOnePlace = async <T>(work: (at: ViewCheckpoint | null) => Promise<T | null>): Promise<T> => {
    for (;;) {
      signal.throwIfAborted()
      const at = await views.checkpoint(name, version)
      // Another process may fold the same shadow, or have dropped it at the end of its own walk.
      await shadow.refresh()
      await foldTo(at?.position ?? beforeAll)
      const isTogether = (shadow.checkpoint()?.position ?? beforeAll) === (at?.position ?? beforeAll)
      const done = isTogether ? await work(at) : null
      if (done !== null) return done
      await clock.sleep(retryMs, signal)
    }
  }

  const stillStand = async (at: ViewCheckpoint | null): Promise<boolean> =>
    isSameCheckpoint(at, await views.checkpoint(name, version)) &&
    isSameCheckpoint(shadow.checkpoint(), await views.checkpoint(shadowName, version))

  const pairsOf = async (keys: readonly string[]): Promise<readonly Pair[]> => {
    const stored = byKey(await views.load(name, version, keys))
    const fresh = byKey(await views.load(shadowName, version, keys))
    return keys
      .map((key) => ({ key, stored: stored.get(key) ?? null, folded: fresh.get(key) ?? null }))
      .filter((pair) => !isEqual(pair))
  }

  /** Documents that differ although both sides stand at one checkpoint; `put right` where that is wanted. */
  const confirmed = (keys: readonly string[], putRight: boolean): Promise<readonly Pair[]> =>
    atOnePlace(async (at) => {
      const pairs = await pairsOf(keys)
      if (!(await stillStand(at))) return null
      if (!putRight || pairs.length === 0 || at === null) return pairs
      const to = repairedAt(at)
      return to !== null && (await views.commit(name, version, { from: at, to }, pairs.map(repair))) ? pairs : null
    })

  /** Goes through both sides a page at a time, and stops when `onDifferences` answers true. */
  const walk = async (putRight: boolean, onDifferences: (pairs: readonly Pair[]) => boolean): Promise<number> => {
    let documents = 0
    for (const side of [name, shadowName]) {
      let after: string | undefined
      for (;;) {
        signal.throwIfAborted()
        const page = await views.scan(side, version, after === undefined ? {} : { after })
        const keys = page.map((document) => document.key)
        if (side === name) documents += keys.length
        after = keys.at(-1)
        if (after === undefined) break
        const suspects = await pairsOf(keys)
        if (suspects.length === 0) continue
        const differing = await confirmed(suspects.map((pair) => pair.key), putRight)
        if (differing.length > 0 && onDifferences(differing)) return documents
      }
    }
    return documents
  }

  /** A walk beside which nobody dropped or moved the shadow has seen all of it. */
  const walkWhole = async (putRight: boolean, onDifferences: (pairs: readonly Pair[]) => boolean): Promise<number> => {
    for (;;) {
      await atOnePlace(async (at) => at?.position ?? beforeAll)
      const documents = await walk(putRight, onDifferences)
      if (!(await shadow.refresh())) return documents
    }
  }

  const end = async (): Promise<void> => {
    await shadow.drop()
    report(true)
  }

  return {
    /** Up to the first difference. */
    compare: async (): Promise<{ documents: number; differs: Difference | null }> => {
      await shadow.drop()
      let differs: Difference | null = null
      const documents = await walkWhole(false, ([first]) => {
        differs = first === undefined ? null : differenceOf(first)
        return true
      })
      await end()
      return { documents, differs }
    },

    /** Answers how many documents were put right. */
    repair: async (): Promise<number> => {
      let repaired = 0
      await walkWhole(true, (pairs) => {
        repaired += pairs.length
        return false
      })
      await end()
      return repaired
    },
  }
}

const byKey = (documents: readonly ViewDocument[]): ReadonlyMap<string, ViewDocument> =>
  new Map(documents.map((document) => [document.key, document]))

const isEqual = ({ stored, folded }: Pair): boolean =>
  stored === null || folded === null ? stored === folded : isSameDocument(stored, folded)

const repair = ({ key, folded }: Pair): ViewChange =>
  folded === null ? { kind: 'remove', key } : { kind: 'put', document: folded }

/** The documents themselves, or, where they are equal, the places they are found in. */
const differenceOf = ({ key, stored, folded }: Pair): Difference => {
  const isMisplaced = stored !== null && folded !== null && stored.value === folded.value
  const shown = (document: ViewDocument | null): string | null => {
    if (document === null) return null
    return isMisplaced ? JSON.stringify({ terms: document.terms, sort: document.sort }) : document.value
  }
  return { key, stored: shown(stored), folded: shown(folded) }
}
