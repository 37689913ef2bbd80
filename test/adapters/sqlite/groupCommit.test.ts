import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { groupCommit } from '../../../adapters/sqlite/groupCommit.ts'
import { sqliteEventStore } from '../../../adapters/sqlite/sqliteEventStore.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import { RevisionConflict } from '../../../domain/errors.ts'
import type { EventStore } from '../../../domain/ports/eventStore.ts'
import { otherEvents, sealedEvents } from '../../contract/sealedEvents.ts'
import { temporaryFolder } from '../../contract/temporaryFolder.ts'

/** Counts the commits in a write-ahead log: the frames that carry the size of the database after them. */
const commitsIn = (wal: Buffer): number => {
  const [header, frameHeader] = [32, 24]
  const pageSize = wal.readUInt32BE(8)
  let commits = 0
  for (let frame = header; frame + frameHeader <= wal.length; frame += frameHeader + pageSize) {
    if (wal.readUInt32BE(frame + 4) > 0) commits += 1
  }
  return commits
}

describe('appends of concurrent callers', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let log: EventStore
  beforeEach(async () => {
    folder = await temporaryFolder()
    log = await sqliteEventStore(join(folder.path, 'log.db'), systemClock())
  })
  afterEach(async () => {
    await log.close()
    await folder.remove()
  })
  const commits = async (): Promise<number> => commitsIn(await readFile(join(folder.path, 'log.db-wal')))

  test('share one commit', async () => {
    const before = await commits()
    const streams = Array.from({ length: 50 }, (_, index) => `job-${index}`)
    await Promise.all(streams.map((stream) => log.append(stream, sealedEvents(stream, 2), 'no-stream')))
    expect((await commits()) - before).toBe(1)
  })

  test('have a commit each when each waits for the one before', async () => {
    const before = await commits()
    for (const stream of ['job-a', 'job-b', 'job-c', 'job-d', 'job-e']) {
      await log.append(stream, sealedEvents(stream, 1), 'no-stream')
    }
    expect((await commits()) - before).toBe(5)
  })

  test('do not fail with one of them that conflicts, or that is a fault', async () => {
    const [taken] = sealedEvents('job-taken', 1)
    await log.append('job-taken', [taken!], 'no-stream')
    const before = await commits()
    // The second event breaks a rule of the table after the first was written.
    const halfBroken = sealedEvents('job-d', 2).map((each, index) => ({ ...each, schemaVersion: 1 + index / 2 }))
    const results = await Promise.allSettled([
      log.append('job-a', sealedEvents('job-a', 1), 'no-stream'),
      log.append('job-taken', otherEvents('job-taken', 1), 'no-stream'),
      log.append('job-b', sealedEvents('job-b', 1), 'no-stream'),
      log.append('job-c', [{ ...taken!, stream: 'job-c' }], 'no-stream'),
      log.append('job-d', halfBroken, 'no-stream'),
      log.append('job-e', sealedEvents('job-e', 1), 'no-stream'),
    ])
    expect(results.map((result) => result.status)).toEqual([
      'fulfilled', 'rejected', 'fulfilled', 'rejected', 'rejected', 'fulfilled',
    ])
    expect(results[1]).toMatchObject({ reason: expect.any(RevisionConflict) })
    expect((await commits()) - before).toBe(1)
    expect((await log.readAll()).events.map((event) => event.stream)).toEqual(['job-taken', 'job-a', 'job-b', 'job-e'])
  })

  test('fail all together when the commit fails, and the next group is not held up', async () => {
    let fail = true
    const group = groupCommit(async (appends) => {
      if (fail) throw new Error('the disk is away')
      return appends.map(() => null)
    })
    const append = (stream: string) => group.add({ stream, events: [], expectedRevision: 'no-stream' })
    const results = await Promise.allSettled([append('job-a'), append('job-b')])
    expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected'])
    fail = false
    await expect(append('job-a')).resolves.toBeUndefined()
  })

  test('that come while a group is committed wait for the next one, in groups that are not without bound', async () => {
    const sizes: number[] = []
    const group = groupCommit(async (appends) => {
      sizes.push(appends.length)
      await new Promise((resolve) => setImmediate(resolve))
      return appends.map(() => null)
    })
    const append = (stream: string) => group.add({ stream, events: [], expectedRevision: 'no-stream' })
    await Promise.all(Array.from({ length: 1200 }, (_, index) => append(`job-${index}`)))
    expect(sizes).toEqual([500, 500, 200])
    await group.settled()
  })
})
