import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { followLog } from '../../../adapters/sqlite/followLog.ts'
import { sqliteEventStore } from '../../../adapters/sqlite/sqliteEventStore.ts'
import { sqliteStore } from '../../../adapters/sqlite/sqliteStore.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import { StoreUnavailable } from '../../../domain/errors.ts'
import { beforeAll } from '../../../domain/ports/eventStore.ts'
import { ownFileSystem, possible, setImmutable } from '../../contract/ownFileSystem.ts'
import type { OwnFileSystem } from '../../contract/ownFileSystem.ts'
import { sealedEvents } from '../../contract/sealedEvents.ts'
import { temporaryFolder } from '../../contract/temporaryFolder.ts'
import { hurriedClock } from './hurriedClock.ts'

const { mounting, freezing } = await possible()

const raised = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'accepted',
    (error: unknown) => error,
  )

const large = (stream: string) => sealedEvents(stream, [{ data: `"${'x'.repeat(200_000)}"` }])

describe.each(mounting)('the disk, as %s,', () => {
  let disk: OwnFileSystem
  beforeEach(async () => {
    disk = await ownFileSystem(3)
  })
  afterEach(() => disk.remove())

  test('that is full fails appends whole, lets reads go on, and works by itself when there is space', async () => {
    const store = await sqliteStore(disk.path, systemClock())
    const ballast = join(disk.path, 'ballast')
    await store.events.append('job-a', sealedEvents('job-a', 1), 'no-stream')
    await writeFile(ballast, Buffer.alloc(3 * 1024 * 1024)).catch(() => {})
    const error = await raised(store.events.append('job-b', large('job-b'), 'no-stream'))
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject({ message: expect.stringMatching(/disk is full/) })
    expect((await store.events.readAll()).events.map((event) => event.stream)).toEqual(['job-a'])
    const view = { from: null, to: { position: '1', eventId: 'a' } }
    const document = { key: 'a', value: 'x'.repeat(200_000), terms: [], sort: '' }
    const commit = () => store.views.commit('list', 1, view, [{ kind: 'put', document }])
    expect(await raised(commit())).toBeInstanceOf(StoreUnavailable)
    expect(await store.views.checkpoint('list', 1)).toBeNull()
    await rm(ballast)
    await store.events.append('job-b', large('job-b'), 'no-stream')
    expect(await commit()).toBe(true)
    expect((await store.events.readAll()).events.map((event) => event.stream)).toEqual(['job-a', 'job-b'])
    await store.close()
  })

  test('that is read-only is refused with what to do about it, and taken once it is writable', async () => {
    await (await sqliteStore(disk.path, systemClock())).close()
    await disk.remount('ro')
    const error = await raised(sqliteStore(disk.path, systemClock()))
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject({ message: expect.stringMatching(/EROFS.*make the folder .*writable/) })
    await disk.remount('rw')
    await (await sqliteStore(disk.path, systemClock())).close()
  })
})

describe('the log', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => folder.remove())
  const path = () => join(folder.path, 'log.db')

  test.each(freezing)(
    'that turns read-only while in use (%s) fails appends, lets reads go on, and works again by itself',
    async () => {
      const log = await sqliteEventStore(path(), systemClock())
      await log.append('job-a', sealedEvents('job-a', 1), 'no-stream')
      const files = [path(), `${path()}-wal`]
      await setImmutable(files, true)
      try {
        const error = await raised(log.append('job-b', sealedEvents('job-b', 1), 'no-stream'))
        expect(error).toBeInstanceOf(StoreUnavailable)
        expect(error).toMatchObject({ message: expect.stringMatching(/may be written/) })
        expect((await log.readAll()).events).toHaveLength(1)
      } finally {
        await setImmutable(files, false)
      }
      await log.append('job-b', sealedEvents('job-b', 1), 'no-stream')
      expect((await log.readAll()).events).toHaveLength(2)
      await log.close()
    },
  )

  test('that may not grow any more fails each append of the group, and takes them when it may', async () => {
    const small = await sqliteEventStore(path(), systemClock(), { pageCountMax: 20 })
    await small.append('job-a', sealedEvents('job-a', 1), 'no-stream')
    const results = await Promise.all([
      raised(small.append('job-b', sealedEvents('job-b', 1), 'no-stream')),
      raised(small.append('job-c', large('job-c'), 'no-stream')),
    ])
    // They share one transaction, so neither may be half there.
    for (const result of results) expect(result).toBeInstanceOf(StoreUnavailable)
    expect((await small.readAll()).events).toHaveLength(1)
    await small.append('job-b', sealedEvents('job-b', 1), 'no-stream')
    await small.close()
    const log = await sqliteEventStore(path(), systemClock())
    await log.append('job-c', large('job-c'), 'no-stream')
    expect((await log.readAll()).events.map((event) => event.stream)).toEqual(['job-a', 'job-b', 'job-c'])
    await log.close()
  })

  test.each([
    ['deleted', (file: string) => rm(file)],
    ['moved away', (file: string) => rename(file, `${file}.moved`)],
    ['replaced', async (file: string) => (await rename(file, `${file}.moved`), writeFile(file, ''))],
  ])('acknowledges nothing once its file was %s, for that would be lost', async (_, harm) => {
    const log = await sqliteEventStore(path(), systemClock())
    await log.append('job-a', sealedEvents('job-a', 1), 'no-stream')
    await harm(path())
    const error = await raised(log.append('job-b', sealedEvents('job-b', 1), 'no-stream'))
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject({ message: expect.stringMatching(/moved or deleted/) })
    await log.close()
  })

  test('goes on when its file is back in its place', async () => {
    const log = await sqliteEventStore(path(), systemClock())
    await log.append('job-a', sealedEvents('job-a', 1), 'no-stream')
    await rename(path(), `${path()}.moved`)
    await raised(log.append('job-b', sealedEvents('job-b', 1), 'no-stream'))
    await rename(`${path()}.moved`, path())
    await log.append('job-b', sealedEvents('job-b', 1), 'no-stream')
    expect((await log.readAll()).events).toHaveLength(2)
    await log.close()
  })

  test('says that it is damaged, and by what to help, instead of showing an empty log', async () => {
    await writeFile(path(), 'this is no database, and long enough to be sure of that')
    const error = await raised(sqliteEventStore(path(), systemClock()))
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject({ message: expect.stringMatching(/damaged: restore it from a backup/) })
    expect(await readFile(path(), 'utf8')).toContain('this is no database')
  })

  test('survives a kill that left its write-ahead log behind', async () => {
    const log = await sqliteEventStore(path(), systemClock())
    await log.append('job-a', sealedEvents('job-a', 3), 'no-stream')
    for (const suffix of ['', '-wal']) {
      await writeFile(`${path()}.copy${suffix}`, await readFile(`${path()}${suffix}`))
    }
    await log.close()
    const copy = await sqliteEventStore(`${path()}.copy`, systemClock())
    expect(await copy.readStream('job-a')).toHaveLength(3)
    await copy.close()
  })

  test('keeps subscriptions waiting through trouble, with growing pauses, and then delivers', async () => {
    const log = await sqliteEventStore(path(), systemClock())
    await log.append('job-a', sealedEvents('job-a', 2), 'no-stream')
    const clock = hurriedClock()
    let failuresLeft = 8
    const end = new AbortController()
    const read = (after: string) => {
      failuresLeft -= 1
      return failuresLeft >= 0 ? Promise.reject(new StoreUnavailable('away')) : log.readAll({ after })
    }
    const source = {
      read,
      readNewest: read,
      news: { rung: () => 0, ring: () => {}, past: () => Promise.resolve() },
      clock,
    }
    const seen: number[] = []
    for await (const delivery of followLog(source, { after: beforeAll, signal: end.signal })) {
      if (delivery.kind === 'event') seen.push(delivery.event.revision)
      else end.abort()
    }
    expect(seen).toEqual([0, 1])
    expect(clock.monotonic()).toBe(50 + 100 + 200 + 400 + 800 + 1600 + 2000 + 2000)
    await log.close()
  })

  test('says StoreUnavailable for a folder that went away before it was opened', async () => {
    const error = await raised(sqliteEventStore(join(folder.path, 'away', 'log.db'), systemClock()))
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject({ message: expect.stringMatching(/check that its folder exists/) })
  })

  test('refuses what is asked of it after it was closed, and closing twice is no fault', async () => {
    const log = await sqliteEventStore(path(), systemClock())
    const landing = log.append('job-a', sealedEvents('job-a', 1), 'no-stream')
    await log.close()
    await log.close()
    await landing
    expect(await raised(log.append('job-b', sealedEvents('job-b', 1), 'no-stream'))).toBeInstanceOf(StoreUnavailable)
    expect(await raised(log.readAll())).toBeInstanceOf(StoreUnavailable)
    expect(await raised(log.head())).toBeInstanceOf(StoreUnavailable)
  })
})
