import { expect, test } from 'vitest'
import { beforeAll } from '../../domain/ports/eventStore.ts'
import type { EventStore } from '../../domain/ports/eventStore.ts'
import type { SnapshotStore, ViewStore } from '../../domain/ports/viewStore.ts'
import { sealedEvents } from './sealedEvents.ts'

export type OpenDurable<Store> = () => Promise<{
  readonly store: Store
  /** Another store over the same content. */
  readonly again: () => Promise<Store>
  readonly close: () => Promise<void>
}>

/** What an event store promises whose log outlives it. */
export const durableEventStoreContract = (name: string, open: OpenDurable<EventStore>): void => {
  test(`${name} finds the whole log again after it was closed and opened, and goes on behind it`, async () => {
    const { store, again, close } = await open()
    const events = sealedEvents('job-a', 4)
    await store.append('job-a', events.slice(0, 3), 'no-stream')
    const { events: before } = await store.readAll()
    await store.close()
    const reopened = await again()
    expect((await reopened.readAll()).events).toEqual(before)
    await reopened.append('job-a', events.slice(0, 3), 'no-stream')
    await reopened.append('job-a', events.slice(3), 2)
    expect((await reopened.readStream('job-a')).map((event) => event.id)).toEqual(events.map((event) => event.id))
    await reopened.close()
    await close()
  })

  test(`${name} shows what another store over the same log appends, also to its subscribers`, async () => {
    const { store, again, close } = await open()
    const other = await again()
    const end = new AbortController()
    const seen: string[] = []
    for await (const delivery of store.subscribe({ after: beforeAll, signal: end.signal })) {
      if (delivery.kind === 'event') seen.push(delivery.event.id)
      else if (seen.length === 0) await other.append('job-a', sealedEvents('job-a', 2), 'no-stream')
      else end.abort()
    }
    expect(seen).toEqual(sealedEvents('job-a', 2).map((event) => event.id))
    await other.close()
    await close()
  })
}

/** What a view store promises whose views outlive it. */
export const durableViewStoreContract = (name: string, open: OpenDurable<ViewStore & SnapshotStore>): void => {
  test(`${name} finds views, lists and snapshots again after it was closed and opened`, async () => {
    const { store, again, close } = await open()
    const document = { key: 'a', value: '{}', terms: ['x'], sort: '1' }
    const to = { position: '1', eventId: 'event-1' }
    const snapshot = { revision: 1, hash: 'h', foldVersion: 1, state: '{}', checksum: 'c' }
    await store.commit('list', 1, { from: null, to }, [{ kind: 'put', document }])
    await store.saveSnapshot('job-a', snapshot)
    await store.close()
    const reopened = await again()
    expect(await reopened.query('list', 1, { term: 'x' })).toEqual([document])
    expect(await reopened.checkpoint('list', 1)).toEqual(to)
    expect(await reopened.loadSnapshot('job-a')).toEqual(snapshot)
    await reopened.close()
    await close()
  })
}
