import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { logNews } from '../../../adapters/sqlite/logNews.ts'
import { logTail } from '../../../adapters/sqlite/logTail.ts'
import { sqliteEventStore } from '../../../adapters/sqlite/sqliteEventStore.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import { beforeAll } from '../../../domain/ports/eventStore.ts'
import type { Delivery, EventStore, LogPage, StoredEvent } from '../../../domain/ports/eventStore.ts'
import { randomFrom } from '../../contract/seededRandom.ts'
import { sealedEvents } from '../../contract/sealedEvents.ts'
import { temporaryFolder } from '../../contract/temporaryFolder.ts'
import { hurriedClock } from './hurriedClock.ts'

describe('following a log', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let log: EventStore
  const open = () => sqliteEventStore(join(folder.path, 'log.db'), systemClock())
  beforeEach(async () => {
    folder = await temporaryFolder()
    log = await open()
  })
  afterEach(async () => {
    await log.close()
    await folder.remove()
  })

  const grow = (store: EventStore, stream: string, count: number, from = 0): Promise<void> =>
    store.append(stream, sealedEvents(stream, count, from), from === 0 ? 'no-stream' : from - 1)

  test('looks through a long stretch of hidden events in steps, and finds what stands behind it', async () => {
    await grow(log, 'job-first', 1)
    for (let from = 0; from < 24_000; from += 2000) await grow(log, 'other', 2000, from)
    await grow(log, 'job-last', 1)
    const pages: LogPage[] = []
    do pages.push(await log.readAll({ after: pages.at(-1)?.scannedTo ?? beforeAll, filter: { streamPrefix: 'job-' } }))
    while (!pages.at(-1)!.atEnd)
    expect(pages.map((page) => page.events.map((event) => event.stream))).toEqual([['job-first'], [], ['job-last']])
    const end = new AbortController()
    const seen: Delivery[] = []
    const options = { after: beforeAll, filter: { streamPrefix: 'job-' }, signal: end.signal }
    for await (const delivery of log.subscribe(options)) {
      seen.push(delivery)
      if (delivery.kind === 'caughtUp') end.abort()
    }
    expect(seen.map((each) => (each.kind === 'event' ? each.event.stream : each.position))).toEqual([
      'job-first', 'job-last', await log.head(),
    ])
  })

  test.each([1, 2, 3])('shows every follower all that two stores append, however slow it is (seed %i)', async (seed) => {
    const other = await open()
    const random = randomFrom(seed)
    const total = 3000
    const turns = async (count: number): Promise<void> => {
      for (let left = count; left > 0; left -= 1) await new Promise((resolve) => setImmediate(resolve))
    }
    const write = async (store: EventStore, stream: string): Promise<void> => {
      for (let from = 0; from < total / 2; ) {
        // Bursts that are longer than the tail that the followers share.
        const count = Math.min(random.below(20) === 0 ? 1400 : 1 + random.below(40), total / 2 - from)
        await grow(store, stream, count, from)
        from += count
        await turns(random.below(3))
      }
    }
    const follow = async (pause: number, streamPrefix: string): Promise<readonly string[]> => {
      const end = new AbortController()
      const seen: StoredEvent[] = []
      const wanted = streamPrefix === '' ? total : total / 2
      for await (const delivery of log.subscribe({ after: beforeAll, filter: { streamPrefix }, signal: end.signal })) {
        if (delivery.kind === 'event') seen.push(delivery.event)
        else if (seen.length >= wanted) end.abort()
        if (random.below(10) < pause) await turns(1)
      }
      return seen.map((event) => event.position)
    }
    const following = [follow(0, ''), follow(3, ''), follow(9, ''), follow(0, 'job-a'), follow(5, 'job-b')]
    await Promise.all([write(log, 'job-a'), write(other, 'job-b')])
    const { events } = await log.readAll({ limit: 2 * total })
    const positions = (prefix: string) =>
      events.filter((event) => event.stream.startsWith(prefix)).map((event) => event.position)
    expect(await Promise.all(following)).toEqual(['', '', '', 'job-a', 'job-b'].map(positions))
    await other.close()
  })

  test('wakes no one without news, and asks the database only while somebody waits', async () => {
    let asked = 0
    const news = logNews(hurriedClock(), () => {
      asked += 1
      return asked < 50 ? 1 : 2
    })
    const end = new AbortController()
    const first = news.rung()
    // The first look cannot know whether what it sees is new.
    await news.past(first, end.signal)
    const second = news.rung()
    await news.past(second, end.signal)
    expect(asked).toBe(50)
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    expect(asked).toBe(50)
  })
})

describe('the tail of the log', () => {
  const event = (number: number, data = ''): StoredEvent => ({
    ...sealedEvents('job-a', [{ data }], number)[0]!,
    position: String(number).padStart(16, '0'),
  })
  const tailOver = (log: StoredEvent[]) => {
    const numberOf = (each: StoredEvent): number => Number(each.position)
    return logTail({
      head: () => numberOf(log.at(-1) ?? event(0)),
      dataVersion: () => 0,
      forwards: () => [],
      backwards: () => [],
      between: (after, until, limit) =>
        log.filter((each) => numberOf(each) > after && numberOf(each) <= until).slice(0, limit),
    })
  }

  test('is at most 1000 events long, and knows nothing of what lies further back', () => {
    const log = Array.from({ length: 700 }, (_, index) => event(index + 1))
    const tail = tailOver(log)
    tail.refresh()
    expect(tail.page('', {})?.events).toHaveLength(700)
    log.push(...Array.from({ length: 700 }, (_, index) => event(index + 701)))
    tail.refresh()
    expect(tail.page(event(399).position, {})).toBeNull()
    expect(tail.page(event(400).position, {})?.events).toHaveLength(1000)
    expect(tail.page(event(1399).position, {})).toMatchObject({ scannedTo: event(1400).position, atEnd: true })
    expect(tail.page(event(1401).position, {})).toBeNull()
  })

  test('holds no more than four million characters', () => {
    const log = Array.from({ length: 10 }, (_, index) => event(index + 1, 'x'.repeat(1_000_000)))
    const tail = tailOver(log)
    tail.refresh()
    expect(tail.page(event(6).position, {})).toBeNull()
    expect(tail.page(event(7).position, {})?.events).toHaveLength(3)
  })

  test('starts anew when more was committed than it holds', () => {
    const log = [event(1)]
    const tail = tailOver(log)
    tail.refresh()
    log.push(...Array.from({ length: 5000 }, (_, index) => event(index + 2)))
    tail.refresh()
    expect(tail.page(event(1).position, {})).toBeNull()
    expect(tail.page(event(4001).position, {})?.events).toHaveLength(1000)
  })
})
