import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { sqliteEventStore } from '../../adapters/sqlite/sqliteEventStore.ts'
import { sqliteViewStore } from '../../adapters/sqlite/sqliteViewStore.ts'
import { systemClock } from '../../adapters/system/systemClock.ts'
import { projections } from '../../server/projector/projections.ts'
import { projector } from '../../server/projector/projector.ts'
import { silentTelemetry } from '../../server/telemetry.ts'
import { appendAll, contentsOf, foldedBy, someEvents } from './projectedLog.ts'

const clock = systemClock()
const timeoutMs = 15_000

/** A folder that any number of processes share; each opening stands for one process. */
const folder = () => {
  const path = mkdtempSync(join(tmpdir(), 'projector-'))
  const closing: (() => Promise<void>)[] = []
  onTestFinished(async () => {
    for (const close of closing.toReversed()) await close()
    rmSync(path, { recursive: true })
  })
  const open = async () => {
    const events = await sqliteEventStore(join(path, 'log.db'), clock)
    const views = await sqliteViewStore(join(path, 'views.db'), clock)
    closing.push(() => events.close(), () => views.close())
    const keeper = projector({
      events,
      views,
      clock,
      log: silentTelemetry,
      projections,
      pageSize: 20,
      patienceMs: 50,
    })
    const end = new AbortController()
    const run = (): Promise<void> => {
      const done = keeper.run(end.signal)
      closing.push(() => (end.abort(), done))
      return done
    }
    return { events, views, keeper, run, stop: () => end.abort() }
  }
  return { path, open }
}

test('four processes over one folder lose nothing and count nothing twice, while they come and go (seed 31)', async () => {
  const { open } = folder()
  const processes = await Promise.all([open(), open(), open(), open()])
  for (const each of processes) void each.run()
  const log = someEvents(31, 800)
  const share = Math.ceil(log.length / 4)
  for (const [index, { events, stop }] of processes.entries()) {
    const position = await appendAll(events, log.slice(index * share, (index + 1) * share))
    const left = processes.slice(index)
    for (const { keeper } of left) expect(await keeper.waitFor(position, { timeoutMs })).toBe(true)
    if (left.length > 1) stop()
  }
  expect(await contentsOf((await open()).views)).toEqual(foldedBy(log))
})

test('views that are deleted under running processes come back by themselves (seed 32)', async () => {
  const { path, open } = folder()
  const [one, other] = [await open(), await open()]
  void one.run()
  void other.run()
  const log = someEvents(32, 300)
  const position = await appendAll(one.events, log)
  expect(await one.keeper.waitFor(position, { timeoutMs })).toBe(true)
  for (const name of readdirSync(path).filter((each) => each.startsWith('views.db'))) rmSync(join(path, name))
  const reader = await open()
  await expect.poll(() => contentsOf(reader.views), { timeout: timeoutMs }).toEqual(foldedBy(log))
  expect(await one.keeper.verify('jobList')).toMatchObject({ equal: true })
})

test('a view built in this store equals, byte for byte, the one that the projection folds to (seed 33)', async () => {
  const { open } = folder()
  const { events, views, keeper } = await open()
  const log = someEvents(33, 400)
  await appendAll(events, log)
  await keeper.catchUp()
  expect(await contentsOf(views)).toEqual(foldedBy(log))
  for (const { name } of projections.all) expect(await keeper.verify(name)).toMatchObject({ equal: true })
})
