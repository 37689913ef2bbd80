import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryEventStore } from '../../adapters/memory/memoryEventStore.ts'
import { memoryViewStore } from '../../adapters/memory/memoryViewStore.ts'
import { systemClock } from '../../adapters/system/systemClock.ts'
import { StoreUnavailable } from '../../domain/errors.ts'
import type { EventStore } from '../../domain/ports/eventStore.ts'
import type { ViewStore } from '../../domain/ports/viewStore.ts'
import { jobList, type ListedJob } from '../../projections/jobList.ts'
import { readyJobs } from '../../projections/readyJobs.ts'
import type { BuildProgress } from '../../server/projector/buildProgress.ts'
import { projector, type ProjectorDeps } from '../../server/projector/projector.ts'
import { projections } from '../../server/projector/projections.ts'
import { silentTelemetry } from '../../server/telemetry.ts'
import { event } from '../support/controls.ts'
import { logged, newer } from '../projections/loggedJob.ts'
import { appendAll, contentsOf, everyProjection, foldedBy, sealed, someEvents } from './projectedLog.ts'

const clock = systemClock()
const timeoutMs = 10_000

const make = (overrides: Partial<ProjectorDeps> = {}) => {
  const deps = {
    events: memoryEventStore(),
    views: memoryViewStore(),
    clock,
    log: silentTelemetry,
    projections,
    pageSize: 100,
    patienceMs: 20,
    ...overrides,
  }
  return { ...deps, projector: projector(deps) }
}

/** Runs until the test is over, or until it is stopped. */
const running = (each: { run(signal: AbortSignal): Promise<void> }): (() => Promise<void>) => {
  const end = new AbortController()
  const done = each.run(end.signal)
  const stop = async (): Promise<void> => {
    end.abort()
    await done
  }
  onTestFinished(stop)
  return stop
}

/** A store that does something first. */
const before = <Store extends object>(store: Store, verb: keyof Store, act: () => Promise<void> | void): Store => {
  const wrapped = store[verb]
  if (typeof wrapped !== 'function') throw new Error(`${String(verb)} is no verb`)
  return {
    ...store,
    [verb]: async (...given: unknown[]) => {
      await act()
      return wrapped(...given) as unknown
    },
  }
}

describe('a projector', () => {
  test.each([1, 7, 1_000])('builds the same views with pages of %i events (seed 1)', async (pageSize) => {
    const { events, views, projector: keeper } = make({ pageSize })
    const log = someEvents(1, 600)
    await appendAll(events, log)
    await keeper.catchUp()
    expect(await contentsOf(views)).toEqual(foldedBy(log))
  })

  test('follows the log, and whoever wrote can read it (seed 2)', async () => {
    const { events, views, projector: keeper } = make()
    running(keeper)
    const log = someEvents(2, 300)
    for (const one of log) {
      const position = await appendAll(events, [one])
      expect(await keeper.waitFor(position, { timeoutMs })).toBe(true)
    }
    expect(await contentsOf(views)).toEqual(foldedBy(log))
  })

  test('says that it did not get as far in time', async () => {
    const { projector: keeper } = make()
    expect(await keeper.waitFor('9', { timeoutMs: 1 })).toBe(false)
    expect(await keeper.waitFor('9', { timeoutMs, signal: AbortSignal.abort() })).toBe(false)
  })

  test('goes on where it was stopped, and counts nothing twice (seed 3)', async () => {
    const { events, views } = make()
    const log = someEvents(3, 600)
    await appendAll(events, log)
    for (let starts = 0; starts < 40; starts += 1) {
      const end = new AbortController()
      // Cut off inside a commit, before it is known to have landed.
      const cut = { ...views, commit: async (...given: Parameters<ViewStore['commit']>) => {
        const landed = await views.commit(...given)
        if (starts % 3 === 0) end.abort()
        if (starts % 3 === 1) throw new StoreUnavailable('cut off')
        return landed
      } }
      await make({ events, views: cut, pageSize: 30 }).projector.catchUp(end.signal).catch(() => {})
    }
    await make({ events, views }).projector.catchUp()
    expect(await contentsOf(views)).toEqual(foldedBy(log))
  })

  test('with three others over one view store loses nothing and counts nothing twice (seed 4)', async () => {
    const { events, views } = make()
    const keepers = [1, 2, 3, 4].map(() => make({ events, views, pageSize: 10 }).projector)
    const stops = keepers.map((each) => running(each))
    const log = someEvents(4, 900)
    const half = log.length >> 1
    await appendAll(events, log.slice(0, half))
    await stops[0]?.()
    const position = await appendAll(events, log.slice(half))
    for (const keeper of keepers.slice(1)) expect(await keeper.waitFor(position, { timeoutMs })).toBe(true)
    expect(await contentsOf(views)).toEqual(foldedBy(log))
  })

  test('leaves the work to whoever is at it, and takes over when that one stands still (seed 5)', async () => {
    const { events, views } = make()
    const log = someEvents(5, 400)
    const commits = [0, 0]
    let frozen: number | null = null
    const end = new AbortController()
    onTestFinished(() => end.abort())
    const keepers = commits.map((_, index) => {
      const counted = before(views, 'commit', async () => {
        if (frozen === index) await new Promise(() => {})
        commits[index]! += 1
      })
      const { projector: keeper } = make({ events, views: counted, patienceMs: 300 })
      void keeper.run(end.signal)
      return keeper
    })
    const appendSlowly = async (from: number, to: number): Promise<void> => {
      for (const each of log.slice(from, to)) {
        const position = await appendAll(events, [each])
        for (const keeper of keepers) expect(await keeper.waitFor(position, { timeoutMs })).toBe(true)
      }
    }

    // Both believe that it is their turn until one of them meets a checkpoint that has moved.
    await appendSlowly(0, 20)
    const busy = commits[0]! > commits[1]! ? 0 : 1
    const idle = 1 - busy
    const idleBefore = commits[idle]!
    await appendSlowly(20, 60)
    expect(commits[idle]! - idleBefore).toBe(0)

    frozen = busy
    const position = await appendAll(events, log.slice(60))
    expect(await keepers[idle]!.waitFor(position, { timeoutMs })).toBe(true)
    expect(await contentsOf(views)).toEqual(foldedBy(log))
  })

  test('builds a view anew that vanished, also when nothing happens in the log (seed 6)', async () => {
    const { events, views, projector: keeper } = make()
    running(keeper)
    const log = someEvents(6, 300)
    const position = await appendAll(events, log)
    expect(await keeper.waitFor(position, { timeoutMs })).toBe(true)
    for (const { name, version } of everyProjection) await views.drop(name, version)
    await expect.poll(() => contentsOf(views), { timeout: timeoutMs }).toEqual(foldedBy(log))
  })

  test('builds a view anew that vanished between its load and its commit (seed 7)', async () => {
    const { events, views } = make()
    const log = someEvents(7, 300)
    await appendAll(events, log)
    let commits = 0
    const vanishing = before(views, 'commit', async () => {
      commits += 1
      if (commits === 7) for (const each of await views.list()) await views.drop(each.name, each.version)
    })
    await make({ events, views: vanishing }).projector.catchUp()
    expect(await contentsOf(views)).toEqual(foldedBy(log))
  })

  test('builds views anew that are of another log (seeds 8 and 9)', async () => {
    const { events, views } = make()
    await appendAll(events, someEvents(8, 300))
    await make({ events, views }).projector.catchUp()
    const other = memoryEventStore()
    const log = someEvents(9, 200)
    await appendAll(other, log)
    await make({ events: other, views }).projector.catchUp()
    expect(await contentsOf(views)).toEqual(foldedBy(log))
  })

  test('builds views anew when a running process finds its log cut off (seed 10)', async () => {
    const log = someEvents(10, 300)
    const whole = memoryEventStore()
    const cut = memoryEventStore()
    await appendAll(whole, log)
    await appendAll(cut, log.slice(0, 50))
    let current: EventStore = whole
    const events: EventStore = {
      ...whole,
      readAll: (...given) => current.readAll(...given),
      readStream: (...given) => current.readStream(...given),
      head: () => current.head(),
    }
    const { views, projector: keeper } = make({ events })
    running(keeper)
    expect(await keeper.waitFor(await whole.head(), { timeoutMs })).toBe(true)
    current = cut
    await expect.poll(() => contentsOf(views), { timeout: timeoutMs }).toEqual(foldedBy(log.slice(0, 50)))
  })

  test('builds a view anew that has a corrupt document (seed 11)', async () => {
    const { events, views } = make()
    const log = someEvents(11, 300)
    const half = log.length >> 1
    await appendAll(events, log.slice(0, half))
    await make({ events, views }).projector.catchUp()
    const key = log[half]?.jobId ?? ''
    const [stored] = await views.load(jobList.name, jobList.version, [key])
    const at = await views.checkpoint(jobList.name, jobList.version)
    expect(stored).toBeDefined()
    await views.commit(jobList.name, jobList.version, { from: at, to: at! }, [
      { kind: 'put', document: { ...stored!, value: '{"jobId":1' } },
    ])
    await appendAll(events, log.slice(half))
    const faults: string[] = []
    const log2 = { ...silentTelemetry, fault: (what: string) => void faults.push(what) }
    await make({ events, views, log: log2 }).projector.catchUp()
    expect(await contentsOf(views)).toEqual(foldedBy(log))
    expect(faults).toEqual(['view jobList is built anew'])
  })

  test('waits out a store that is away (seed 12)', async () => {
    const { events, views } = make()
    const log = someEvents(12, 200)
    let isAway = true
    const away = (): void => {
      if (isAway) throw new StoreUnavailable('away')
    }
    let troubles = 0
    const telemetry = { ...silentTelemetry, trouble: () => {
      troubles += 1
      if (troubles === 3) isAway = false
    } }
    const { projector: keeper } = make({ events, views: before(views, 'commit', away), log: telemetry })
    const position = await appendAll(events, log)
    running(keeper)
    expect(await keeper.waitFor(position, { timeoutMs })).toBe(true)
    expect(troubles).toBe(3)
    expect(await contentsOf(views)).toEqual(foldedBy(log))
  })
})

describe('events that a projector cannot read', () => {
  const job = [event.JobSubmitted(), newer, event.JobLeased(), event.JobStarted()] as const

  test('are passed over, and every other job goes on', async () => {
    const { events, views, projector: keeper } = make()
    const log = [...logged(job, { job: 1 }), ...logged([event.JobSubmitted()], { job: 2, from: 5 })]
    await appendAll(events, log)
    await keeper.catchUp()
    expect(await contentsOf(views)).toEqual(foldedBy(log))
  })

  test('have the views built anew by the first program that can read them', async () => {
    const { events, views } = make()
    const log = logged([event.JobSubmitted(), event.JobLeased(), event.JobStarted()])
    await appendAll(events, log)
    // An older program, to which JobLeased was new.
    const older: EventStore = {
      ...events,
      readAll: async (options) => {
        const page = await events.readAll(options)
        return { ...page, events: page.events.map((each) => each.type === 'JobLeased' ? { ...each, schemaVersion: 9 } : each) }
      },
    }
    await make({ events: older, views }).projector.catchUp()
    expect(await contentsOf(views)).not.toEqual(foldedBy(log))
    await make({ events, views }).projector.catchUp()
    expect(await contentsOf(views), 'as long as version 9 is not known').not.toEqual(foldedBy(log))

    for (const { name, version } of everyProjection) {
      const at = (await views.checkpoint(name, version))!
      const eventId = at.eventId.replace('JobLeased:9', 'JobLeased:1')
      expect(eventId).not.toBe(at.eventId)
      await views.commit(name, version, { from: at, to: { ...at, eventId } }, [])
    }
    await make({ events, views }).projector.catchUp()
    expect(await contentsOf(views)).toEqual(foldedBy(log))
  })

  test('are skipped where they break their own schema, and said so', async () => {
    const { events } = make()
    const [submitted, leased, ...rest] = logged([event.JobSubmitted(), event.JobLeased(), event.JobStarted()])
    const stored = [submitted!, leased!, ...rest].map(sealed)
    stored[1] = { ...stored[1]!, data: '{"token":"one"}' }
    await events.append(stored[0]!.stream, stored, 'no-stream')
    await events.append('tokens', [{ ...stored[0]!, id: 'other', stream: 'tokens' }], 'no-stream')
    const faults: string[] = []
    const { views, projector: keeper } = make({
      events,
      log: { ...silentTelemetry, fault: (what) => void faults.push(what) },
    })
    await keeper.catchUp()
    expect(faults).toEqual([`views skip event event-2, revision 1 of ${stored[0]!.stream}`])
    expect((await contentsOf(views))['jobList']).toHaveLength(1)
  })

  test('are skipped where a projection cannot fold them, and said so', async () => {
    const { events } = make()
    await appendAll(events, logged([event.JobSubmitted(), event.JobLogged(), event.JobLeased()]))
    const fragile: typeof jobList = {
      ...jobList,
      project: (view, happened) => {
        if (happened.type === 'JobLogged') throw new Error('no logs, please')
        return jobList.project(view, happened)
      },
    }
    const faults: string[] = []
    const { views, projector: keeper } = make({
      events,
      projections: { first: [], rest: [fragile] },
      log: { ...silentTelemetry, fault: (what) => void faults.push(what) },
    })
    await keeper.catchUp()
    expect(faults).toHaveLength(1)
    expect((await contentsOf(views))['jobList']).toMatchObject([{ value: expect.stringContaining('"leased"') }])
  })
})

test('a document that breaks its own schema is not stored, and said so', async () => {
  const { events } = make()
  await appendAll(events, logged([event.JobSubmitted(), event.JobLeased(), event.JobStarted()]))
  const wrong: typeof jobList = {
    ...jobList,
    project: (view, happened) => {
      const next = jobList.project(view, happened)
      return next === null || happened.type !== 'JobStarted' ? next : { ...next, priority: 0.5 }
    },
  }
  const faults: string[] = []
  const { views, projector: keeper } = make({
    events,
    pageSize: 1,
    projections: { first: [], rest: [wrong] },
    log: { ...silentTelemetry, fault: (what) => void faults.push(what) },
  })
  await keeper.catchUp()
  expect(faults).toHaveLength(1)
  expect((await contentsOf(views))['jobList']).toMatchObject([{ value: expect.stringContaining('"leased"') }])
})

test('documents are stored as their schema orders them, however they came about', async () => {
  const { events } = make()
  await appendAll(events, logged([event.JobSubmitted()]))
  const backwards: typeof jobList = {
    ...jobList,
    project: (view, happened) => {
      const next = jobList.project(view, happened)
      return next === null ? null : (Object.fromEntries(Object.entries(next).toReversed()) as ListedJob)
    },
  }
  const contents = []
  for (const each of [jobList, backwards]) {
    const { views, projector: keeper } = make({ events, projections: { first: [], rest: [each] } })
    await keeper.catchUp()
    contents.push((await contentsOf(views))['jobList'])
  }
  expect(contents[0]).toHaveLength(1)
  expect(contents[1]).toEqual(contents[0])
})

describe('a new version of a view', () => {
  const { version } = jobList
  const next: typeof jobList = { ...jobList, version: version + 1 }

  test('is served once it has the whole log; until then the version before is, and then it goes (seed 13)', async () => {
    const { events, views } = make()
    await appendAll(events, someEvents(13, 300))
    await make({ events, views }).projector.catchUp()
    const { projector: keeper } = make({ events, views, projections: { first: [], rest: [next] } })
    expect(await keeper.served('jobList')).toEqual({ version, stale: true })
    await keeper.catchUp()
    expect(await keeper.served('jobList')).toEqual({ version: version + 1, stale: false })
    expect((await views.list()).filter((each) => each.name === 'jobList').map((each) => each.version)).toEqual([version + 1])
  })

  test('is served as stale when there was none before', async () => {
    const { projector: keeper } = make()
    expect(await keeper.served('jobList')).toEqual({ version, stale: true })
  })
})

test('what the loops look at is built before the rest, and the progress of both is told (seed 14)', async () => {
  const progress: BuildProgress[] = []
  const { events, projector: keeper } = make({ onProgress: (each) => void progress.push(each), pageSize: 50 })
  const log = someEvents(14, 500)
  await appendAll(events, log)
  await keeper.catchUp()
  const begun = progress.findIndex((each) => each.projection === jobList.name)
  const readyAt = progress.findIndex((each) => each.projection === readyJobs.name && each.events >= log.length - 50)
  expect(begun).toBeGreaterThan(readyAt)
  expect(progress.filter((each) => each.done).map((each) => each.projection)).toHaveLength(everyProjection.length)
  expect(progress.at(-1)).toMatchObject({ events: log.length, done: true })
})

test('the status tells how far each view is', async () => {
  const { events, projector: keeper } = make()
  expect(await keeper.status()).toMatchObject(Array.from({ length: everyProjection.length }, () => ({ position: null, upToDate: true })))
  const head = await appendAll(events, logged([event.JobSubmitted()]))
  expect(await keeper.status()).toMatchObject(Array.from({ length: everyProjection.length }, () => ({ position: null, upToDate: false, head })))
  await keeper.catchUp()
  expect(await keeper.status()).toMatchObject([
    { name: 'readyJobs', version: 1, position: head, upToDate: true, documents: 1, served: { version: 1, stale: false } },
    { name: 'openLeases', position: head, documents: 0 },
    { name: 'wakeUps' },
    { name: 'jobList', documents: 1 },
    { name: 'spend' },
    { name: 'throughput' },
  ])
})
