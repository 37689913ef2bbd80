import { readFile, readdir, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { sqliteViewStore } from '../../../adapters/sqlite/sqliteViewStore.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import type { SnapshotStore, ViewChange, ViewCheckpoint, ViewStore } from '../../../domain/ports/viewStore.ts'
import { temporaryFolder } from '../../contract/temporaryFolder.ts'

const at = (place: number): ViewCheckpoint => ({ position: String(place).padStart(9, '0'), eventId: `event-${place}` })

const documents = (from: number, count: number): readonly ViewChange[] =>
  Array.from({ length: count }, (_, index) => {
    const key = `key-${String(from + index).padStart(9, '0')}`
    return { kind: 'put', document: { key, value: `"${'v'.repeat(100)}"`, terms: ['all', 'some'], sort: key } }
  })

describe('views.db', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let store: ViewStore & SnapshotStore
  const path = () => join(folder.path, 'views.db')
  beforeEach(async () => {
    folder = await temporaryFolder()
    store = await sqliteViewStore(path(), systemClock())
  })
  afterEach(async () => {
    await store.close()
    await folder.remove()
  })

  /** What the store answers to somebody who believes in the old checkpoint, and then builds the view anew. */
  const rebuilt = async () => ({
    checkpoint: await store.checkpoint('list', 1),
    onTopOfTheOld: await store.commit('list', 1, { from: at(1), to: at(2) }, []),
    anew: await store.commit('list', 1, { from: null, to: at(1) }, documents(0, 300)),
    listed: (await store.query('list', 1, { term: 'all', limit: 1000 })).length,
    views: await store.list(),
  })
  const startedOver = {
    checkpoint: null,
    onTopOfTheOld: false,
    anew: true,
    listed: 300,
    views: [{ name: 'list', version: 1, checkpoint: at(1), documents: 300 }],
  }

  const harms: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['deleted', () => rm(path())],
    ['deleted with its companions', () => Promise.all(['', '-wal', '-shm'].map((each) => rm(`${path()}${each}`)))],
    ['replaced by an empty file', async () => (await rm(path()), writeFile(path(), ''))],
    ['replaced by another file', async () => (await rm(path()), writeFile(path(), 'not a database '.repeat(500)))],
  ]
  test.each(harms)('starts over when it is %s while in use', async (_, harm) => {
    await store.commit('list', 1, { from: null, to: at(1) }, documents(0, 300))
    await harm()
    expect(await rebuilt()).toEqual(startedOver)
  })

  test.each(harms)('starts over when it is %s between two runs', async (_, harm) => {
    await store.commit('list', 1, { from: null, to: at(1) }, documents(0, 300))
    await writeFile(`${path()}-wal`, '', { flag: 'a' })
    await writeFile(`${path()}-shm`, '', { flag: 'a' })
    await harm()
    await store.close()
    store = await sqliteViewStore(path(), systemClock())
    expect(await rebuilt()).toEqual(startedOver)
  })

  test('is kept aside, and started over, when its bytes are overwritten between two runs', async () => {
    await store.commit('list', 1, { from: null, to: at(1) }, documents(0, 300))
    await store.close()
    const whole = await readFile(path())
    await writeFile(path(), whole.fill(0xa5, 100))
    store = await sqliteViewStore(path(), systemClock())
    expect(await rebuilt()).toEqual(startedOver)
    expect(await readdir(folder.path)).toContain('views.db.corrupt')
  })

  test('starts over when it is cut short between two runs', async () => {
    await store.commit('list', 1, { from: null, to: at(1) }, documents(0, 300))
    await store.close()
    await truncate(path(), 8192)
    store = await sqliteViewStore(path(), systemClock())
    expect(await rebuilt()).toEqual(startedOver)
  })

  test('starts over again and again, with two stores open on it', async () => {
    const other = await sqliteViewStore(path(), systemClock())
    for (let round = 1; round <= 10; round += 1) {
      const writer = round % 2 === 0 ? store : other
      const reader = round % 2 === 0 ? other : store
      expect(await writer.commit('list', 1, { from: null, to: at(round) }, documents(0, 20))).toBe(true)
      expect(await reader.checkpoint('list', 1)).toEqual(at(round))
      await rm(path())
      expect(await reader.checkpoint('list', 1)).toBeNull()
      expect(await writer.checkpoint('list', 1)).toBeNull()
    }
    await other.close()
  })

  test('lets other stores use a view that one of them drops and builds anew', async () => {
    const other = await sqliteViewStore(path(), systemClock())
    for (let round = 1; round <= 5; round += 1) {
      await store.commit('list', 1, { from: null, to: at(round) }, documents(round, round))
      expect(await other.scan('list', 1)).toHaveLength(round)
      expect(await other.query('list', 1, { term: 'all' })).toHaveLength(round)
      await store.drop('list', 1)
      expect(await other.scan('list', 1)).toEqual([])
    }
    await other.close()
  })

  test('finds the next in a list and takes it out within 20 ms in the middle of 100 000 documents', async () => {
    const [total, slice] = [100_000, 5_000]
    for (let from = 0; from < total; from += slice) {
      const move = { from: from === 0 ? null : at(from), to: at(from + slice) }
      expect(await store.commit('list', 1, move, documents(from, slice))).toBe(true)
    }
    const after = { sort: 'key-000050000', key: '' }
    const times: number[] = []
    for (let round = 0; round < 50; round += 1) {
      const startedAt = performance.now()
      const [first] = await store.query('list', 1, { term: 'some', after, limit: 10 })
      const move = { from: at(total + round), to: at(total + round + 1) }
      expect(await store.commit('list', 1, move, [{ kind: 'remove', key: first!.key }])).toBe(true)
      times.push(performance.now() - startedAt)
    }
    expect(times.toSorted((a, b) => a - b)[25]).toBeLessThan(20)
    expect((await store.list())[0]?.documents).toBe(total - 50)
    await store.drop('list', 1)
    expect(await store.list()).toEqual([])
  }, 60_000)
})
