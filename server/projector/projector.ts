import { StoreUnavailable } from '../../domain/errors.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import { beforeAll, type Position } from '../../domain/ports/eventStore.ts'
import type { Projection } from '../../projections/projection.ts'
import { alarm } from './alarm.ts'
import type { BuildProgress } from './buildProgress.ts'
import { catchingUp } from './catchingUp.ts'
import { followNews } from './followNews.ts'
import { projectedView, type ProjectedView, type ViewDeps } from './projectedView.ts'
import { type Difference, shadowNameOf, shadowOf } from './shadow.ts'
import { type ServedView, servedOf, statusOf, type ViewStatus } from './viewStatus.ts'
import { waiters } from './waiters.ts'

export type ProjectorDeps = ViewDeps & {
  readonly clock: Clock
  /** In a backlog `first` are built before the `rest`. */
  readonly projections: {
    readonly first: readonly Projection<unknown>[]
    readonly rest: readonly Projection<unknown>[]
  }
  /** Told after each page of a view that is being built, and once when it has the whole log. */
  onProgress?(progress: BuildProgress): void
  /** Events read at a time. Default 1 000. */
  readonly pageSize?: number
  /** How long another process may stand still before this one takes over. Default 100 ms. */
  readonly patienceMs?: number
}

export type ViewCheck = {
  readonly name: string
  readonly version: number
  readonly documents: number
  readonly equal: boolean
  /** The first document that differs from a fresh fold. */
  readonly differs: Difference | null
}

/** Keeps the views of the log, together with any number of other processes. */
export type Projector = {
  /** Catches up, then follows the log, until the signal aborts. Waits out a store that is away. Never rejects. */
  run(signal: AbortSignal): Promise<void>
  /** Folds what is there now. Raises `StoreUnavailable`. */
  catchUp(signal?: AbortSignal): Promise<void>
  /**
   * Answers true once the views (those named, or all) have everything up to this position: whoever wrote can read
   * it. False after `timeoutMs`, or when the signal aborts. Needs `run` to be under way.
   */
  waitFor(
    position: Position,
    options: { timeoutMs: number; signal?: AbortSignal; names?: readonly string[] },
  ): Promise<boolean>
  served(name: string): Promise<ServedView>
  status(): Promise<readonly ViewStatus[]>
  /**
   * Folds the log anew beside the view and puts right what differs, so that readers never meet a half-built view.
   * Called again after it was interrupted, it goes on where it stopped. Answers how many documents were put right.
   */
  rebuild(name: string, options?: RebuildOptions): Promise<number>
  /** Folds the log anew and compares byte for byte, up to the first difference. */
  verify(name: string, options?: RebuildOptions): Promise<ViewCheck>
}

export type RebuildOptions = { readonly signal?: AbortSignal; onProgress?(progress: BuildProgress): void }

const idleMs = 1_000
/** Between two looks at a log that is being written to: what comes meanwhile shares a page and its commits. */
const paceMs = 20
const troubleMsMin = 100
const troubleMsMax = 5_000

export const projector = (deps: ProjectorDeps): Projector => {
  const { events, views, clock, log, projections, pageSize = 1_000, patienceMs = 100 } = deps
  const lanes = [
    ...projections.first.map((projection) => ({ view: projectedView(projection, deps), isFirst: true })),
    ...projections.rest.map((projection) => ({ view: projectedView(projection, deps), isFirst: false })),
  ]
  const news = alarm(clock)
  const readers = waiters(clock)
  const folded = new Map<ProjectedView, number>()
  const complete = new Set<ProjectedView>()

  const viewNamed = (name: string): ProjectedView => {
    const lane = lanes.find(({ view }) => view.projection.name === name)
    if (lane === undefined) throw new Error(`there is no projection "${name}"`)
    return lane.view
  }

  const report = (view: ProjectedView, done: boolean): void =>
    deps.onProgress?.({
      projection: view.projection.name,
      position: view.scannedTo(),
      events: folded.get(view) ?? 0,
      done,
    })

  /** Versions before this one have served until now. */
  const retireOlder = async ({ projection: { name, version } }: ProjectedView): Promise<void> => {
    for (const stored of await views.list()) {
      if (stored.name === name && stored.version < version) await views.drop(name, stored.version)
    }
  }

  const { step, distrust } = catchingUp(lanes, { ...deps, pageSize, patienceMs }, {
    folded: (view, count) => {
      folded.set(view, (folded.get(view) ?? 0) + count)
      if (!complete.has(view)) report(view, false)
    },
    complete: async (view) => {
      if (complete.has(view)) return
      await retireOlder(view)
      complete.add(view)
      report(view, true)
    },
  })

  // One step at a time, whoever asks for it.
  let last: Promise<unknown> = Promise.resolve()
  const stepInTurn = (signal: AbortSignal): Promise<boolean> => {
    const next = last.then(() => step(signal))
    last = next.catch(() => {})
    return next
  }

  const catchUp = async (signal = new AbortController().signal, restMs = 0): Promise<void> => {
    let isBehind = true
    while (isBehind && !signal.aborted) {
      isBehind = await stepInTurn(signal)
      readers.look()
      if (isBehind && restMs > 0) await clock.sleep(restMs, signal)
    }
  }

  /** A log that ends before a view does is another one, or was cut. */
  const lookForTrouble = async (): Promise<void> => {
    const head = await events.head()
    for (const { view } of lanes) if (view.scannedTo() > head) view.doubt()
    distrust()
  }

  /** Rebuilds that a process began and was killed in. */
  const finishRebuilds = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      try {
        const stored = await views.list()
        for (const { view } of lanes) {
          const { name, version } = view.projection
          const isBegun = stored.some((each) => each.name === shadowNameOf(name, 'rebuild') && each.version === version)
          if (isBegun) await (await shadow(name, 'rebuild', { signal })).repair()
        }
        return
      } catch (error) {
        if (signal.aborted) return
        if (!(error instanceof StoreUnavailable)) return log.fault('going on with an interrupted rebuild', error)
        log.trouble('going on with an interrupted rebuild', error)
      }
      await clock.sleep(troubleMsMax, signal)
    }
  }

  const run = async (signal: AbortSignal): Promise<void> => {
    let following: Promise<unknown> | null = null
    let troubleMs = troubleMsMin
    while (!signal.aborted) {
      try {
        const rung = news.rung()
        await catchUp(signal, following === null ? 0 : paceMs)
        const after = lanes.map(({ view }) => view.scannedTo()).toSorted()[0] ?? beforeAll
        following ??= Promise.all([
          followNews({ events, clock, log }, { after, ring: news.ring, signal }),
          finishRebuilds(signal),
        ])
        if (!(await news.rest(rung, idleMs, signal))) await lookForTrouble()
        troubleMs = troubleMsMin
      } catch (error) {
        if (error instanceof StoreUnavailable) log.trouble('projecting the log', error)
        else log.fault('projecting the log', error)
        distrust()
        await clock.sleep(troubleMs, signal)
        troubleMs = Math.min(troubleMsMax, troubleMs * 2)
      }
    }
    await following
  }

  const has = (position: Position, names: readonly string[] | undefined): boolean =>
    lanes.every(
      ({ view }) => (names !== undefined && !names.includes(view.projection.name)) || view.scannedTo() >= position,
    )

  /** A fold of the log beside the view, once the view itself has what there is. */
  const shadow = async (name: string, purpose: 'rebuild' | 'verify', options: RebuildOptions) => {
    const { projection } = viewNamed(name)
    const { signal = new AbortController().signal, onProgress } = options
    await catchUp(signal)
    return shadowOf(projection, purpose, { ...deps, pageSize, signal, onProgress })
  }

  return {
    run,
    catchUp: (signal) => catchUp(signal),
    waitFor: (position, { names, ...options }) => {
      news.ring()
      return readers.wait(() => has(position, names), options)
    },
    served: async (name) => {
      const view = viewNamed(name)
      return servedOf(view, complete.has(view), complete.has(view) ? [] : await views.list())
    },
    status: async () => {
      const stored = await views.list()
      const head = await events.head()
      return lanes.map(({ view }) => statusOf(view, { isComplete: complete.has(view), stored, head }))
    },
    rebuild: async (name, options = {}) => (await shadow(name, 'rebuild', options)).repair(),
    verify: async (name, options = {}) => {
      const { version } = viewNamed(name).projection
      const { documents, differs } = await (await shadow(name, 'verify', options)).compare()
      return { name, version, documents, equal: differs === null, differs }
    },
  }
}
