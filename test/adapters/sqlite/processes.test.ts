import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { sqliteEventStore } from '../../../adapters/sqlite/sqliteEventStore.ts'
import { sqlitePresence } from '../../../adapters/sqlite/sqlitePresence.ts'
import { sqliteStore } from '../../../adapters/sqlite/sqliteStore.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import { StoreUnavailable } from '../../../domain/errors.ts'
import type { StoredEvent } from '../../../domain/ports/eventStore.ts'
import { sealedEvents } from '../../contract/sealedEvents.ts'
import { temporaryFolder } from '../../contract/temporaryFolder.ts'
import { machine } from './elsewhere.ts'
import type { Machine } from './elsewhere.ts'
import { hurriedClock } from './hurriedClock.ts'

describe('several processes on one folder', () => {
  let others: Machine
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  beforeAll(async () => {
    others = await machine()
  }, 60_000)
  afterAll(() => others.close())
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => folder.remove())

  const openLog = () => sqliteEventStore(join(folder.path, 'log.db'), systemClock())

  test('lose and repeat nothing while four append 250 events each and follow all of them in one order', async () => {
    const total = 4 * 250
    const writers = Array.from({ length: 4 }, (_, index) =>
      others.start('writeAndFollow', folder.path, `writer-${index}`, '250', String(total)),
    )
    for (const writer of writers) expect(await writer.next()).toBe('ready')
    for (const writer of writers) writer.send('go')
    const reports = await Promise.all(
      writers.map(async (writer) => (await writer.next()) as { landed: string[]; seen: string[] }),
    )
    const log = await openLog()
    const stored = (await log.readAll({ limit: 2 * total })).events
    const order = stored.map((event) => event.id)
    expect(order.toSorted()).toEqual(reports.flatMap((report) => report.landed).toSorted())
    expect(new Set(order).size).toBe(total)
    for (const report of reports) expect(report.seen).toEqual(order)
    const shared = await log.readStream('job-shared', { limit: total })
    expect(shared.map((event) => event.revision)).toEqual(Array.from({ length: total / 2 }, (_, index) => index))
    await log.close()
  }, 60_000)

  test('keep every event that was acknowledged before its process was killed, and wholly', async () => {
    const acknowledged: unknown[] = []
    for (let round = 0; round < 5; round += 1) {
      const writer = others.start('appendUntilKilled', folder.path, `writer-${round}`)
      for (let count = 0; count < 40 + 23 * round; count += 1) acknowledged.push(await writer.next())
      await writer.kill()
      const log = await openLog()
      const stored = (await log.readAll({ limit: 100_000 })).events
      const ids = new Set<unknown>(stored.map((event) => event.id))
      expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
      for (const [stream, events] of byStream(stored)) {
        expect([stream, events.map((event) => event.revision)]).toEqual([stream, events.map((_, index) => index)])
      }
      await log.append(`job-after-${round}`, sealedEvents(`job-after-${round}`, 1), 'no-stream')
      await log.close()
    }
  }, 60_000)

  test('wait for one another without an error while a lock is held for less than five seconds', async () => {
    const log = await openLog()
    await log.append('job-a', sealedEvents('job-a', 1), 'no-stream')
    const holder = others.start('holdWriteLock', folder.path, 'log.db')
    expect(await holder.next()).toBe('held')
    let landed = false
    const append = log.append('job-b', sealedEvents('job-b', 1), 'no-stream').then(() => {
      landed = true
    })
    // Reading goes on meanwhile.
    expect((await log.readAll()).events).toHaveLength(1)
    expect(landed).toBe(false)
    holder.send('release')
    await append
    expect((await log.readAll()).events).toHaveLength(2)
    await log.close()
  })

  test('say StoreUnavailable when the lock is held for longer, and the same append lands once afterwards', async () => {
    const clock = hurriedClock()
    const log = await sqliteEventStore(join(folder.path, 'log.db'), clock)
    const holder = others.start('holdWriteLock', folder.path, 'log.db')
    expect(await holder.next()).toBe('held')
    const events = sealedEvents('job-a', 2)
    const error: unknown = await log.append('job-a', events, 'no-stream').catch((raised: unknown) => raised)
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject({ message: expect.stringContaining('another process keeps it locked') })
    expect(clock.monotonic()).toBeGreaterThan(5000)
    expect(await log.readStream('job-a')).toEqual([])
    holder.send('release')
    expect(await holder.next()).toBe('released')
    await log.append('job-a', events, 'no-stream')
    await log.append('job-a', events, 'no-stream')
    expect(await log.readStream('job-a')).toHaveLength(2)
    await log.close()
  })

  test('let a killed holder of the write lock block nobody', async () => {
    const log = await openLog()
    const holder = others.start('holdWriteLock', folder.path, 'log.db')
    expect(await holder.next()).toBe('held')
    await holder.kill()
    await log.append('job-a', sealedEvents('job-a', 1), 'no-stream')
    expect(await log.readStream('job-a')).toHaveLength(1)
    await log.close()
  })

  test('open a new folder at the same time', async () => {
    const workers = ['a', 'b', 'c'].map((name) => others.start('announce', folder.path, name))
    for (const worker of workers) expect(await worker.next()).toBe('announced')
    for (const worker of workers) await worker.kill()
  })

  test('all go on when the views are deleted or replaced under them, documents and checkpoint in step', async () => {
    const store = await sqliteStore(folder.path, systemClock())
    const committers = ['one', 'two'].map((name) => others.start('commitViews', folder.path, name))
    for (const committer of committers) expect(await committer.next()).toBe('going')
    const path = join(folder.path, 'views.db')
    const grown = async (projection: string): Promise<void> => {
      for (;;) {
        const checkpoint = await store.views.checkpoint(projection, 1)
        if (checkpoint !== null && Number(checkpoint.position) >= 30) return
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
    const harms = [
      () => rm(path),
      () => Promise.all(['', '-wal', '-shm'].map((suffix) => rm(`${path}${suffix}`, { force: true }))),
      async () => (await rm(path), writeFile(path, 'not a database '.repeat(500))),
    ]
    for (const harm of [...harms, ...harms, ...harms]) {
      await harm()
      // Everybody starts over from nothing, and gets on.
      await Promise.all([grown('one'), grown('two')])
    }
    for (const committer of committers) committer.send('stop')
    for (const committer of committers) expect(await committer.next()).toEqual({ committed: expect.any(Number) })
    for (const projection of ['one', 'two']) {
      const reached = Number((await store.views.checkpoint(projection, 1))!.position)
      const documents = await store.views.scan(projection, 1, { limit: 100_000 })
      expect(documents).toHaveLength(reached)
      const listed = await store.views.query(projection, 1, { term: 'all', limit: 100_000 })
      expect(listed).toHaveLength(reached)
    }
    await store.close()
  }, 60_000)

  test('forget a worker only a day after somebody noticed that it was gone', async () => {
    const workers = join(folder.path, 'workers')
    const clock = hurriedClock()
    const presence = sqlitePresence(workers, clock)
    const worker = others.start('announce', folder.path, 'killed')
    await worker.next()
    await worker.kill()
    const hours = (count: number) => clock.sleep(count * 60 * 60 * 1000)
    await hours(72)
    // Whoever announces a worker tidies up.
    const leave = await presence.announce('first')
    expect(await presence.isGone('killed')).toBe(true)
    await hours(23)
    await presence.announce('second')
    expect(await presence.isGone('killed')).toBe(true)
    await hours(2)
    await presence.announce('third')
    expect(await presence.isGone('killed')).toBe(false)
    await leave()
    presence.close()
  })
})

const byStream = (events: readonly StoredEvent[]): ReadonlyMap<string, readonly StoredEvent[]> => {
  const streams = new Map<string, StoredEvent[]>()
  for (const event of events) streams.set(event.stream, [...(streams.get(event.stream) ?? []), event])
  return streams
}
