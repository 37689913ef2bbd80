import { StoreUnavailable } from '../../domain/errors.ts'
import type { ArtifactStore } from '../../domain/ports/artifactStore.ts'
import type { Delivery, EventFilter, EventStore, Position } from '../../domain/ports/eventStore.ts'
import type { SnapshotStore, ViewStore } from '../../domain/ports/viewStore.ts'
import type { Faults } from './faults.ts'
import type { Host } from './host.ts'

/** The stores that all processes share, and the news of each append. */
export type SharedStores = {
  readonly events: EventStore
  /** Another one after the views were deleted. */
  views(): ViewStore & SnapshotStore
  readonly artifacts: ArtifactStore
  /** How many there were. */
  appends(): number
  onAppend(listener: () => void): () => void
}

const silenceMsMax = 4_000

export const gatedEvents = (host: Host, shared: SharedStores, faults: Faults): EventStore => {
  const { events } = shared
  const read = <T>(what: string, carryOut: () => Promise<T>): Promise<T> => host.ask('log', 'read', what, carryOut)

  /** Resolves once there were more appends than that, or when aborted. */
  const news = (seen: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      if (signal.aborted || shared.appends() > seen) return resolve()
      const end = (): void => {
        stop()
        forget()
        signal.removeEventListener('abort', end)
        resolve()
      }
      const stop = shared.onAppend(() => host.deliver(end))
      const forget = host.onDeath(() => stop())
      signal.addEventListener('abort', end)
    })

  async function* subscribe(options: {
    after: Position
    filter?: EventFilter
    signal: AbortSignal
  }): AsyncGenerator<Delivery> {
    const { filter = {}, signal } = options
    let position = options.after
    let before = position
    let caughtUpTo: Position | null = null
    while (!signal.aborted) {
      if (faults.hits('subscriptionRaises')) throw new StoreUnavailable('the subscription broke (simulated)')
      if (faults.hits('subscriptionSilent')) {
        // The connection is lost and found again, and what came last is delivered once more.
        await host.clock.sleep(host.random.luck() * silenceMsMax, signal)
        position = before
      }
      const seen = shared.appends()
      const page = await read('subscribe', () => events.readAll({ after: position, filter })).catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable)) throw error
        return null
      })
      if (page === null) {
        await host.clock.sleep(100, signal)
        continue
      }
      for (const event of page.events) {
        if (signal.aborted) return
        yield { kind: 'event', event }
      }
      before = position
      position = page.scannedTo
      if (!page.atEnd || signal.aborted) continue
      if (caughtUpTo !== position) yield { kind: 'caughtUp', position }
      caughtUpTo = position
      await news(seen, signal)
    }
  }

  return {
    append: (stream, sealed, expected) =>
      host.ask('log', 'write', `append ${stream} ${sealed.map((event) => event.type).join('+')} at ${String(expected)}`, () =>
        events.append(stream, sealed, expected),
      ),
    readStream: (stream, options) => read('readStream', () => events.readStream(stream, options)),
    readAll: (options) => read('readAll', () => events.readAll(options)),
    head: () => read('head', () => events.head()),
    subscribe,
    close: async () => {},
  }
}

export const gatedViews = (host: Host, shared: SharedStores): ViewStore & SnapshotStore => {
  const read = <T>(what: string, carryOut: (views: ViewStore & SnapshotStore) => Promise<T>): Promise<T> =>
    host.ask('views', 'read', what, () => carryOut(shared.views()))
  const write = <T>(what: string, carryOut: (views: ViewStore & SnapshotStore) => Promise<T>): Promise<T> =>
    host.ask('views', 'write', what, () => carryOut(shared.views()))
  return {
    checkpoint: (name, version) => read('checkpoint', (views) => views.checkpoint(name, version)),
    load: (name, version, keys) => read('load', (views) => views.load(name, version, keys)),
    commit: (name, version, move, changes) =>
      write(`commit ${name} ${move.to.position}`, (views) => views.commit(name, version, move, changes)),
    query: (name, version, list) => read(`query ${name}`, (views) => views.query(name, version, list)),
    scan: (name, version, page) => read('scan', (views) => views.scan(name, version, page)),
    drop: (name, version) => write(`drop ${name}`, (views) => views.drop(name, version)),
    list: () => read('list', (views) => views.list()),
    loadSnapshot: (stream) => read('loadSnapshot', (views) => views.loadSnapshot(stream)),
    saveSnapshot: (stream, snapshot) => write('saveSnapshot', (views) => views.saveSnapshot(stream, snapshot)),
    close: async () => {},
  }
}

export const gatedArtifacts = (host: Host, { artifacts }: SharedStores): ArtifactStore => ({
  put: (projectId, content) => host.ask('artifacts', 'write', 'put', () => artifacts.put(projectId, content)),
  get: (projectId, sha256) => host.ask('artifacts', 'read', 'get', () => artifacts.get(projectId, sha256)),
  has: (projectId, sha256) => host.ask('artifacts', 'read', 'has', () => artifacts.has(projectId, sha256)),
  list: (projectId, page) => host.ask('artifacts', 'read', 'list', () => artifacts.list(projectId, page)),
})
