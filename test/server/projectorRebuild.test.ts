import { describe, expect, onTestFinished, test } from 'vitest'
import { memoryEventStore } from '../../adapters/memory/memoryEventStore.ts'
import { memoryViewStore } from '../../adapters/memory/memoryViewStore.ts'
import { systemClock } from '../../adapters/system/systemClock.ts'
import type { ViewChange, ViewDocument, ViewStore } from '../../domain/ports/viewStore.ts'
import { jobList } from '../../projections/jobList.ts'
import type { LogEvent } from '../../projections/projection.ts'
import type { BuildProgress } from '../../server/projector/buildProgress.ts'
import { projections } from '../../server/projector/projections.ts'
import { projector, type ProjectorDeps } from '../../server/projector/projector.ts'
import { silentTelemetry } from '../../server/telemetry.ts'
import { appendAll, contentOf, contentsOf, everyProjection, foldedBy, someEvents } from './projectedLog.ts'

const clock = systemClock()
const { name, version } = jobList

const keeping = (stores: Pick<ProjectorDeps, 'events' | 'views'>, overrides: Partial<ProjectorDeps> = {}) =>
  projector({ ...stores, clock, log: silentTelemetry, projections, pageSize: 50, patienceMs: 20, ...overrides })

const built = async (seed: number) => {
  const stores = { events: memoryEventStore(), views: memoryViewStore() }
  const log = someEvents(seed, 400)
  await appendAll(stores.events, log)
  const keeper = keeping(stores)
  await keeper.catchUp()
  return { ...stores, log, keeper }
}

/** Changes a view behind everybody's back. */
const plant = async (views: ViewStore, changes: readonly ViewChange[]): Promise<void> => {
  const at = (await views.checkpoint(name, version))!
  expect(await views.commit(name, version, { from: at, to: at }, changes)).toBe(true)
}

const changed = (document: ViewDocument, changes: Partial<ViewDocument>): ViewChange => ({
  kind: 'put',
  document: { ...document, ...changes },
})
const alien = { key: 'zzz', value: '{}', terms: ['all'], sort: '' }

const faults: readonly [string, (document: ViewDocument) => ViewChange, (document: ViewDocument) => object][] = [
  [
    'another value',
    (document) => changed(document, { value: document.value.replace('"attemptCount":', '"attemptCount":4') }),
    (document) => ({ key: document.key, folded: document.value }),
  ],
  [
    'another place',
    (document) => changed(document, { terms: ['all'] }),
    (document) => ({ key: document.key, stored: JSON.stringify({ terms: ['all'], sort: document.sort }) }),
  ],
  [
    'the same fields in another order',
    (document) => changed(document, { value: JSON.stringify({ revision: 0, ...JSON.parse(document.value) }) }),
    (document) => ({ key: document.key, folded: document.value }),
  ],
  [
    'a document too few',
    (document) => ({ kind: 'remove', key: document.key }),
    (document) => ({ key: document.key, stored: null, folded: document.value }),
  ],
  ['a document too many', () => ({ kind: 'put', document: alien }), () => ({ key: 'zzz', stored: '{}', folded: null })],
]

describe('the verification of a view', () => {
  test('finds every view as the log folds to it (seed 21)', async () => {
    const { keeper, views, log } = await built(21)
    for (const { name: each } of everyProjection) {
      expect(await keeper.verify(each)).toMatchObject({ name: each, equal: true, differs: null })
    }
    const { length } = foldedBy(log)[name]!
    expect(await keeper.verify(name)).toMatchObject({ documents: length })
    expect((await views.list()).map((each) => each.name), 'and leaves nothing behind').toHaveLength(everyProjection.length)
  })

  test.each(faults)('names the first document that differs: %s (seed 22)', async (_, fault, expected) => {
    const { keeper, views } = await built(22)
    const [document] = await contentOf(views, jobList)
    await plant(views, [fault(document!)])
    const check = await keeper.verify(name)
    expect(check.equal).toBe(false)
    expect(check.differs).toMatchObject(expected(document!))
  })

  test('is not misled by another one that ends in its midst (seed 32)', async () => {
    const { events, views } = await built(32)
    let others = 0
    const interrupted: ViewStore = {
      ...views,
      scan: async (...given) => {
        const page = await views.scan(given[0], given[1], { ...given[2], limit: 3 })
        others += 1
        if (others === 2) await keeping({ events, views }).verify(name)
        return page
      },
    }
    expect(await keeping({ events, views: interrupted }).verify(name)).toMatchObject({ equal: true })
    expect(others).toBeGreaterThan(2)
  })

  test('is not misled by a view that goes on meanwhile (seed 23)', async () => {
    const { events, views, keeper, log } = await built(23)
    const end = new AbortController()
    onTestFinished(() => end.abort())
    const more = someEvents(24, 400).map((event, index) => ({
      ...event,
      position: String(log.length + index + 1).padStart(16, '0'),
      id: `more-${event.id}`,
      jobId: event.jobId.replace(/^0/, 'f'),
    })) as LogEvent[]
    let left = more
    // A write at each look that the verification takes.
    const disturbed: ViewStore = {
      ...views,
      scan: async (...given) => {
        const page = await views.scan(given[0], given[1], { ...given[2], limit: 3 })
        const position = await appendAll(events, left.slice(0, 10))
        left = left.slice(10)
        expect(await keeper.waitFor(position, { timeoutMs: 10_000 })).toBe(true)
        return page
      },
    }
    void keeper.run(end.signal)
    expect(await keeping({ events, views: disturbed }).verify(name)).toMatchObject({ equal: true })
    expect(left.length).toBeLessThan(more.length - 50)
    expect(await contentsOf(views)).toEqual(foldedBy([...log, ...more.slice(0, more.length - left.length)]))
  })
})

describe('the rebuild of a view', () => {
  test.each(faults)('puts right %s (seed 25)', async (_, fault) => {
    const { keeper, views, log } = await built(25)
    const [document] = await contentOf(views, jobList)
    await plant(views, [fault(document!)])
    expect(await keeper.rebuild(name)).toBe(1)
    expect(await contentsOf(views)).toEqual(foldedBy(log))
    expect(await keeper.verify(name)).toMatchObject({ equal: true })
    expect(await views.list()).toHaveLength(everyProjection.length)
  })

  test('shows readers every document all the time (seed 26)', async () => {
    const { events, views, log } = await built(26)
    const [document] = await contentOf(views, jobList)
    await plant(views, [faults[0]![1](document!)])
    const count = (await contentOf(views, jobList)).length
    let commits = 0
    const watched: ViewStore = {
      ...views,
      commit: async (...given) => {
        commits += 1
        expect(await contentOf(views, jobList)).toHaveLength(count)
        return views.commit(...given)
      },
    }
    await keeping({ events, views: watched }).rebuild(name)
    expect(commits).toBeGreaterThan(log.length / 50)
  })

  test('goes on where it was interrupted (seed 27)', async () => {
    const { keeper, views, log } = await built(27)
    const [document] = await contentOf(views, jobList)
    await plant(views, [faults[0]![1](document!)])
    const end = new AbortController()
    const interrupted = keeper.rebuild(name, {
      signal: end.signal,
      onProgress: ({ events }) => {
        if (events > log.length / 2) end.abort()
      },
    })
    await expect(interrupted).rejects.toThrow('abort')
    const progress: BuildProgress[] = []
    expect(await keeper.rebuild(name, { onProgress: (each) => void progress.push(each) })).toBe(1)
    expect(progress.at(-1)).toMatchObject({ done: true })
    expect(progress.at(-1)!.events).toBeLessThan(log.length / 2)
    expect(await contentsOf(views)).toEqual(foldedBy(log))
  })

  test('goes on by itself in the next process that keeps the views (seed 30)', async () => {
    const { events, keeper, views, log } = await built(30)
    const [document] = await contentOf(views, jobList)
    await plant(views, [faults[0]![1](document!)])
    const end = new AbortController()
    await expect(keeper.rebuild(name, { signal: end.signal, onProgress: () => end.abort() })).rejects.toThrow('abort')
    expect(await contentsOf(views)).not.toEqual(foldedBy(log))
    const next = new AbortController()
    onTestFinished(() => next.abort())
    void keeping({ events, views }).run(next.signal)
    await expect.poll(() => views.list(), { timeout: 10_000 }).toHaveLength(everyProjection.length)
    expect(await contentsOf(views)).toEqual(foldedBy(log))
  })

  test.each(['verify', 'rebuild'] as const)('and a %s by another process do not mislead each other (seed 31)', async (verb) => {
    const { events, views, log } = await built(31)
    const [first] = await contentOf(views, jobList)
    await plant(views, [faults[0]![1](first!)])
    let hasOther = false
    const interrupted: ViewStore = {
      ...views,
      // The other one begins and ends, and drops what it has folded, in the midst of this one's walk.
      scan: async (...given) => {
        const page = await views.scan(given[0], given[1], { ...given[2], limit: 3 })
        if (!hasOther && given[2]?.after !== undefined) {
          hasOther = true
          await keeping({ events, views })[verb](name)
        }
        return page
      },
    }
    await keeping({ events, views: interrupted }).rebuild(name)
    expect(hasOther).toBe(true)
    expect(await contentsOf(views)).toEqual(foldedBy(log))
    expect(await keeping({ events, views }).verify(name)).toMatchObject({ equal: true })
    expect(await views.list()).toHaveLength(everyProjection.length)
  })

  test('is not undone by a projector that loaded its documents before (seed 28)', async () => {
    const { events, views, log, keeper } = await built(28)
    const more = someEvents(28, 600).slice(log.length)
    const goesOn = more.find((event) => log.some((earlier) => earlier.jobId === event.jobId))?.jobId ?? ''
    const [document] = await views.load(name, version, [goesOn])
    await plant(views, [faults[0]![1](document!)])
    let repaired: number | null = null
    const overtaken: ViewStore = {
      ...views,
      commit: async (...given) => {
        if (given[0] === name && repaired === null) {
          // The other one's log ends where this one's page begins.
          const short = { ...events, readAll: async (options?: object) => {
            const page = await events.readAll(options)
            const known = page.events.filter((event) => event.position <= String(log.length).padStart(16, '0'))
            return { ...page, events: known }
          } }
          repaired = await keeping({ events: short, views }).rebuild(name)
        }
        return views.commit(...given)
      },
    }
    await appendAll(events, more)
    await keeping({ events, views: overtaken }).catchUp()
    expect(repaired).toBe(1)
    expect(await contentsOf(views)).toEqual(foldedBy([...log, ...more]))
    expect(await keeper.verify(name)).toMatchObject({ equal: true })
  })

  test('of a projection that is not there is refused', async () => {
    const { keeper } = await built(29)
    await expect(keeper.rebuild('jobLits')).rejects.toThrow('there is no projection "jobLits"')
  })
})
