import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { AppendTooLarge, InvalidInputError, RevisionConflict } from '../../domain/errors.ts'
import { appendBytesMax, beforeAll } from '../../domain/ports/eventStore.ts'
import type { Delivery, EventFilter, EventStore, SealedEvent, StoredEvent } from '../../domain/ports/eventStore.ts'
import { hostileTexts } from './hostileTexts.ts'
import { otherEvents, sealedEvents } from './sealedEvents.ts'
import { randomFrom } from './seededRandom.ts'

export type OpenEventStore = () => Promise<{
  readonly store: EventStore
  readonly close: () => Promise<void>
}>

const idsOf = (events: readonly SealedEvent[]): readonly string[] => events.map((event) => event.id)

/** What every event store promises. */
export const eventStoreContract = (name: string, open: OpenEventStore): void => {
  describe(`${name} as an event store`, () => {
    let opened: Awaited<ReturnType<OpenEventStore>>
    let store: EventStore
    beforeEach(async () => {
      opened = await open()
      store = opened.store
    })
    afterEach(() => opened.close())

    /** Appends `count` events behind what the stream holds. */
    const grow = async (stream: string, count: number): Promise<readonly SealedEvent[]> => {
      const [last] = await store.readStream(stream, { direction: 'backwards', limit: 1 })
      const from = last === undefined ? 0 : last.revision + 1
      const events = sealedEvents(stream, count, from)
      await store.append(stream, events, from === 0 ? 'no-stream' : from - 1)
      return events
    }

    const refused = async (append: Promise<void>): Promise<unknown> =>
      append.then(
        () => 'accepted',
        (error: unknown) => error,
      )

    describe('appending', () => {
      test('starts a stream that does not exist and goes on behind its last revision', async () => {
        const events = sealedEvents('job-a', 3)
        await store.append('job-a', events.slice(0, 1), 'no-stream')
        await store.append('job-a', events.slice(1), 0)
        expect(idsOf(await store.readStream('job-a'))).toEqual(idsOf(events))
      })

      test('raises RevisionConflict with the actual revision when a stream exists and none was expected', async () => {
        await grow('job-a', 2)
        const error = await refused(store.append('job-a', otherEvents('job-a', 1), 'no-stream'))
        expect(error).toBeInstanceOf(RevisionConflict)
        expect(error).toMatchObject({ details: { stream: 'job-a', expected: 'no-stream', actual: 1 } })
      })

      test('raises RevisionConflict when the expected revision is lower than the actual one', async () => {
        await grow('job-a', 3)
        const error = await refused(store.append('job-a', otherEvents('job-a', 1, 1), 0))
        expect(error).toBeInstanceOf(RevisionConflict)
        expect(error).toMatchObject({ details: { expected: 0, actual: 2 } })
      })

      test('raises RevisionConflict when the expected revision is higher than the actual one', async () => {
        await grow('job-a', 1)
        const error = await refused(store.append('job-a', sealedEvents('job-a', 1, 6), 5))
        expect(error).toBeInstanceOf(RevisionConflict)
        expect(error).toMatchObject({ details: { expected: 5, actual: 0 } })
      })

      test('raises RevisionConflict when a revision was expected and there is no stream', async () => {
        const error = await refused(store.append('job-a', sealedEvents('job-a', 1, 1), 0))
        expect(error).toBeInstanceOf(RevisionConflict)
        expect(error).toMatchObject({ details: { expected: 0, actual: 'no-stream' } })
      })

      test('writes nothing of an append that is refused', async () => {
        await grow('job-a', 1)
        const before = await store.head()
        await refused(store.append('job-a', otherEvents('job-a', 3), 'no-stream'))
        expect(await store.head()).toBe(before)
        expect(await store.readStream('job-a')).toHaveLength(1)
      })

      test('takes an identical append again as a success and writes nothing', async () => {
        const events = await grow('job-a', 3)
        const before = await store.head()
        await store.append('job-a', events, 'no-stream')
        expect(await store.head()).toBe(before)
      })

      test('takes an identical append again when later events stand behind it', async () => {
        const events = sealedEvents('job-a', 4)
        await store.append('job-a', events.slice(0, 1), 'no-stream')
        await store.append('job-a', events.slice(1, 3), 0)
        await grow('job-a', 5)
        const before = await store.head()
        await store.append('job-a', events.slice(1, 3), 0)
        await store.append('job-a', events.slice(0, 1), 'no-stream')
        expect(await store.head()).toBe(before)
      })

      test('raises RevisionConflict for an append of which only the beginning is stored', async () => {
        const events = sealedEvents('job-a', 2)
        await store.append('job-a', events.slice(0, 1), 'no-stream')
        expect(await refused(store.append('job-a', events, 'no-stream'))).toBeInstanceOf(RevisionConflict)
        expect(await store.readStream('job-a')).toHaveLength(1)
      })

      test('raises RevisionConflict for an append of which one event differs', async () => {
        const events = await grow('job-a', 3)
        const changed = [...events.slice(0, 2), ...otherEvents('job-a', 1, 2)]
        expect(await refused(store.append('job-a', changed, 'no-stream'))).toBeInstanceOf(RevisionConflict)
      })

      test('raises a fault when an id already stands in another stream', async () => {
        const [event] = await grow('job-a', 1)
        const error = await refused(store.append('job-b', [{ ...event!, stream: 'job-b' }], 'no-stream'))
        expect(error).toBeInstanceOf(Error)
        expect(error).not.toBeInstanceOf(RevisionConflict)
        expect(await store.readStream('job-b')).toEqual([])
      })

      test('raises a fault when an id already stands earlier in the same stream', async () => {
        const events = await grow('job-a', 2)
        const error = await refused(store.append('job-a', [{ ...events[0]!, revision: 2 }], 1))
        expect(error).toBeInstanceOf(Error)
        expect(error).not.toBeInstanceOf(RevisionConflict)
        expect(await store.readStream('job-a')).toHaveLength(2)
      })

      test('raises a fault, and writes nothing, when the revisions do not follow the expected one', async () => {
        const [first, , third] = sealedEvents('job-a', 3)
        for (const events of [[third!], [first!, third!], [first!, first!]]) {
          const error = await refused(store.append('job-a', events, 'no-stream'))
          expect(error).toBeInstanceOf(Error)
          expect(error).not.toBeInstanceOf(RevisionConflict)
        }
        expect(await store.head()).toBe(beforeAll)
      })

      test('raises a fault for events of another stream', async () => {
        const error = await refused(store.append('job-a', sealedEvents('job-b', 1), 'no-stream'))
        expect(error).toBeInstanceOf(Error)
        expect(await store.head()).toBe(beforeAll)
      })

      test('appends nothing for an empty list', async () => {
        await store.append('job-a', [], 'no-stream')
        expect(await store.readStream('job-a')).toEqual([])
        expect(await store.head()).toBe(beforeAll)
      })

      test('takes an append of exactly the limit, counted in bytes of UTF-8 over all its events', async () => {
        const type = 'JobLogged'
        const meta = '{}'
        const fixed = 2 * (type.length + meta.length) + '""'.length * 2
        // Two bytes a letter: a limit in characters would let twice as much pass.
        const letters = (appendBytesMax - fixed) / 2
        const data = [`"${'ä'.repeat(letters - 1)}"`, '"ää"'.replace('ää', 'ä')]
        const events = sealedEvents('job-a', data.map((text) => ({ type, meta, data: text })))
        await store.append('job-a', events, 'no-stream')
        expect((await store.readStream('job-a'))[0]?.data).toBe(data[0])
      })

      test('raises AppendTooLarge for one byte more, before anything is written', async () => {
        const data = `"${'a'.repeat(appendBytesMax - 'JobLogged{}""'.length + 1)}"`
        const error = await refused(store.append('job-a', sealedEvents('job-a', [{ data, meta: '{}' }]), 'no-stream'))
        expect(error).toBeInstanceOf(AppendTooLarge)
        expect(error).toMatchObject({ details: { bytes: appendBytesMax + 1 } })
        expect(await store.head()).toBe(beforeAll)
      })

      test('lets exactly one of many concurrent appends to one stream win', async () => {
        await grow('job-a', 1)
        const rivals = Array.from({ length: 20 }, (_, rival) =>
          sealedEvents('job-a', [{ data: `{"rival":${rival}}` }, { data: `{"rival":${rival},"second":true}` }], 1),
        )
        const results = await Promise.all(rivals.map((events) => refused(store.append('job-a', events, 0))))
        expect(results.filter((result) => result === 'accepted')).toHaveLength(1)
        expect(results.filter((result) => result instanceof RevisionConflict)).toHaveLength(19)
        const winner = rivals[results.indexOf('accepted')]!
        expect(idsOf(await store.readStream('job-a', { from: 1 }))).toEqual(idsOf(winner))
      })

      test('lands concurrent appends to fifty streams, one of which is refused', async () => {
        await grow('job-7', 1)
        const streams = Array.from({ length: 50 }, (_, index) => `job-${index}`)
        const results = await Promise.all(
          streams.map((stream) => refused(store.append(stream, otherEvents(stream, 3), 'no-stream'))),
        )
        expect(results.filter((result) => result === 'accepted')).toHaveLength(49)
        expect(results[7]).toBeInstanceOf(RevisionConflict)
        const { events } = await store.readAll()
        expect(events).toHaveLength(1 + 49 * 3)
      })

      test('takes appends that build on one another without waiting for answers', async () => {
        const events = sealedEvents('job-a', 5)
        await Promise.all(
          events.map((event, index) => store.append('job-a', [event], index === 0 ? 'no-stream' : index - 1)),
        )
        expect(idsOf(await store.readStream('job-a'))).toEqual(idsOf(events))
      })
    })

    describe('reading', () => {
      test('answers a missing stream with nothing, in both directions', async () => {
        expect(await store.readStream('job-none')).toEqual([])
        expect(await store.readStream('job-none', { direction: 'backwards' })).toEqual([])
      })

      test('gives back every field of an event as it was stored', async () => {
        const events = await grow('job-a', 2)
        const stored = await store.readStream('job-a')
        expect(stored.map(({ position: _, ...event }) => event)).toEqual(events)
      })

      test('reads a stream forwards from a revision that is included, up to a limit', async () => {
        await grow('job-a', 10)
        const revisions = (events: readonly StoredEvent[]) => events.map((event) => event.revision)
        expect(revisions(await store.readStream('job-a', { from: 4, limit: 3 }))).toEqual([4, 5, 6])
        expect(revisions(await store.readStream('job-a', { from: 8 }))).toEqual([8, 9])
        expect(revisions(await store.readStream('job-a', { from: 10 }))).toEqual([])
      })

      test('reads a stream backwards from its end or from a revision that is included', async () => {
        await grow('job-a', 10)
        const backwards = async (options: { from?: number; limit?: number }) =>
          (await store.readStream('job-a', { direction: 'backwards', ...options })).map((event) => event.revision)
        expect(await backwards({ limit: 2 })).toEqual([9, 8])
        expect(await backwards({ from: 4, limit: 3 })).toEqual([4, 3, 2])
        expect(await backwards({ from: 1 })).toEqual([1, 0])
        expect(await backwards({ from: 99, limit: 1 })).toEqual([9])
      })

      test('reads at most 1000 events of a stream and of the log unless told otherwise', async () => {
        await grow('job-a', 1001)
        expect(await store.readStream('job-a')).toHaveLength(1000)
        const page = await store.readAll()
        expect(page.events).toHaveLength(1000)
        expect(page.atEnd).toBe(false)
      })

      test('gives events positions whose lexical order is log order, and head as the last of them', async () => {
        expect(await store.head()).toBe(beforeAll)
        for (let round = 0; round < 12; round += 1) await grow(`job-${round % 3}`, 3)
        const positions = (await store.readAll()).events.map((event) => event.position)
        expect(positions).toEqual([...new Set(positions)].toSorted())
        expect(positions[0]! > beforeAll).toBe(true)
        expect(await store.head()).toBe(positions.at(-1))
      })

      test('reads the log in pages that miss and repeat nothing and say when they are at the end', async () => {
        for (let round = 0; round < 5; round += 1) await grow(`job-${round}`, 5)
        const whole = await store.readAll()
        expect(whole).toMatchObject({ atEnd: true, scannedTo: await store.head() })
        const found: StoredEvent[] = []
        let after = beforeAll
        for (let atEnd = false; !atEnd; ) {
          const page = await store.readAll({ after, limit: 4 })
          expect(page.events.length).toBeLessThanOrEqual(4)
          found.push(...page.events)
          after = page.scannedTo
          atEnd = page.atEnd
        }
        expect(found).toEqual(whole.events)
      })

      test('answers the end of the log, and an empty log, with an empty page at its end', async () => {
        expect(await store.readAll()).toEqual({ events: [], scannedTo: beforeAll, atEnd: true })
        await grow('job-a', 3)
        const head = await store.head()
        expect(await store.readAll({ after: head })).toEqual({ events: [], scannedTo: head, atEnd: true })
      })

      test('answers a position behind the head with nothing, and does not go back to the head', async () => {
        await grow('job-a', 3)
        const { events } = await store.readAll()
        const beyond = `${events.at(-1)!.position.slice(0, -1)}9`
        expect(await store.readAll({ after: beyond })).toEqual({ events: [], scannedTo: beyond, atEnd: true })
      })

      test('raises InvalidInputError for a position that no log of its kind gives out', async () => {
        await expect(store.readAll({ after: 'no position' })).rejects.toBeInstanceOf(InvalidInputError)
      })

      const filters: readonly (readonly [string, EventFilter, readonly string[]])[] = [
        ['a stream prefix', { streamPrefix: 'job-a' }, ['job-a:A', 'job-a:B', 'job-ab:A']],
        ['types', { types: ['A', 'C'] }, ['job-a:A', 'job-ab:A', 'token-x:C']],
        ['both', { streamPrefix: 'job-', types: ['B'] }, ['job-a:B', 'job-é:B']],
        ['empty parts', { streamPrefix: '', types: [] }, ['job-a:A', 'job-a:B', 'job-ab:A', 'token-x:C', 'job-é:B']],
        ['a prefix with wildcards of SQL', { streamPrefix: 'job%' }, []],
        ['a prefix in other letters', { streamPrefix: 'JOB-' }, []],
        ['a prefix beyond ASCII', { streamPrefix: 'job-é' }, ['job-é:B']],
      ]
      test.each(filters)('filters the log by %s and counts what it hid', async (_, filter, expected) => {
        await store.append('job-a', sealedEvents('job-a', [{ type: 'A' }, { type: 'B' }]), 'no-stream')
        await store.append('job-ab', sealedEvents('job-ab', [{ type: 'A' }]), 'no-stream')
        await store.append('token-x', sealedEvents('token-x', [{ type: 'C' }]), 'no-stream')
        await store.append('job-é', sealedEvents('job-é', [{ type: 'B' }]), 'no-stream')
        const page = await store.readAll({ filter })
        expect(page.events.map((event) => `${event.stream}:${event.type}`)).toEqual(expected)
        expect(page).toMatchObject({ scannedTo: await store.head(), atEnd: true })
      })

      test('stops a filtered page at its limit, and the next one goes on there', async () => {
        for (let round = 0; round < 6; round += 1) {
          await grow('job-a', 1)
          await grow('job-b', 2)
        }
        const found: number[] = []
        let after = beforeAll
        for (let atEnd = false; !atEnd; ) {
          const page = await store.readAll({ after, limit: 2, filter: { streamPrefix: 'job-a' } })
          expect(page.events.length).toBeLessThanOrEqual(2)
          found.push(...page.events.map((event) => event.revision))
          after = page.scannedTo
          atEnd = page.atEnd
        }
        expect(found).toEqual([0, 1, 2, 3, 4, 5])
        expect(after).toBe(await store.head())
      })

      test.each(hostileTexts)('keeps JSON text byte for byte: %s', async (_, text) => {
        const events = sealedEvents('job-a', [{ data: text, meta: text }])
        await store.append('job-a', events, 'no-stream')
        const [stored] = await store.readStream('job-a')
        expect(Buffer.from(stored!.data)).toEqual(Buffer.from(text))
        expect(Buffer.from(stored!.meta)).toEqual(Buffer.from(text))
        expect((await store.readAll()).events[0]).toEqual(stored)
      })
    })

    describe('subscribing', () => {
      const ending = (): AbortController => new AbortController()

      /** Reads deliveries until `enough`, then aborts; fails when the subscription ends before. */
      const collect = async (
        options: { after?: string; filter?: EventFilter; onDelivery?: (delivery: Delivery) => Promise<void> },
        enough: (deliveries: readonly Delivery[]) => boolean,
      ): Promise<readonly Delivery[]> => {
        const { after = beforeAll, filter = {}, onDelivery } = options
        const end = ending()
        const deliveries: Delivery[] = []
        for await (const delivery of store.subscribe({ after, filter, signal: end.signal })) {
          deliveries.push(delivery)
          if (enough(deliveries)) end.abort()
          else await onDelivery?.(delivery)
        }
        expect(enough(deliveries)).toBe(true)
        return deliveries
      }
      const lastIsCaughtUp = (deliveries: readonly Delivery[]): boolean => deliveries.at(-1)?.kind === 'caughtUp'
      const eventsOf = (deliveries: readonly Delivery[]): readonly StoredEvent[] =>
        deliveries.flatMap((delivery) => (delivery.kind === 'event' ? [delivery.event] : []))

      test('delivers what is there in order, then the mark that it has caught up', async () => {
        await grow('job-a', 3)
        await grow('job-b', 2)
        const deliveries = await collect({}, lastIsCaughtUp)
        expect(eventsOf(deliveries)).toEqual((await store.readAll()).events)
        expect(deliveries.at(-1)).toEqual({ kind: 'caughtUp', position: await store.head() })
        expect(deliveries.filter((delivery) => delivery.kind === 'caughtUp')).toHaveLength(1)
      })

      test('marks an empty log, and a start at the end, as caught up at once', async () => {
        expect(await collect({}, lastIsCaughtUp)).toEqual([{ kind: 'caughtUp', position: beforeAll }])
        await grow('job-a', 2)
        const after = await store.head()
        expect(await collect({ after }, lastIsCaughtUp)).toEqual([{ kind: 'caughtUp', position: after }])
      })

      test('starts behind the given position', async () => {
        await grow('job-a', 5)
        const { events } = await store.readAll()
        const deliveries = await collect({ after: events[2]!.position }, lastIsCaughtUp)
        expect(eventsOf(deliveries)).toEqual(events.slice(3))
      })

      test('delivers what is appended later, each burst followed by a mark', async () => {
        let bursts = 0
        const deliveries = await collect(
          {
            onDelivery: async (delivery) => {
              if (delivery.kind !== 'caughtUp' || bursts === 3) return
              bursts += 1
              await grow(`job-${bursts}`, 2)
            },
          },
          (all) => lastIsCaughtUp(all) && eventsOf(all).length === 6,
        )
        expect(eventsOf(deliveries)).toEqual((await store.readAll()).events)
        expect(deliveries.filter((delivery) => delivery.kind === 'caughtUp').length).toBeGreaterThanOrEqual(4)
      })

      test('hides what the filter hides and counts it in the mark', async () => {
        await grow('job-a', 1)
        await grow('job-b', 3)
        const deliveries = await collect({ filter: { streamPrefix: 'job-a' } }, lastIsCaughtUp)
        expect(eventsOf(deliveries).map((event) => event.stream)).toEqual(['job-a'])
        expect(deliveries.at(-1)).toEqual({ kind: 'caughtUp', position: await store.head() })
      })

      test('moves the mark when only hidden events are appended', async () => {
        let hidden = false
        const deliveries = await collect(
          {
            filter: { streamPrefix: 'job-a' },
            onDelivery: async () => {
              if (!hidden) await grow('job-b', 2)
              hidden = true
            },
          },
          (all) => all.length === 2,
        )
        expect(deliveries).toEqual([
          { kind: 'caughtUp', position: beforeAll },
          { kind: 'caughtUp', position: await store.head() },
        ])
      })

      test('ends promptly when aborted while it waits, while it delivers and before it starts', async () => {
        await grow('job-a', 3)
        const whileWaiting = ending()
        for await (const delivery of store.subscribe({ after: beforeAll, signal: whileWaiting.signal })) {
          if (delivery.kind === 'caughtUp') setImmediate(() => whileWaiting.abort())
        }
        const whileDelivering = ending()
        let delivered = 0
        for await (const _ of store.subscribe({ after: beforeAll, signal: whileDelivering.signal })) {
          delivered += 1
          whileDelivering.abort()
        }
        expect(delivered).toBe(1)
        for await (const _ of store.subscribe({ after: beforeAll, signal: AbortSignal.abort() })) expect.unreachable()
      })

      test('ends when the store is closed', async () => {
        const seen: string[] = []
        for await (const delivery of store.subscribe({ after: beforeAll, signal: ending().signal })) {
          seen.push(delivery.kind)
          if (delivery.kind === 'caughtUp') setImmediate(() => void store.close())
        }
        expect(seen).toEqual(['caughtUp'])
      })

      test('can be left in the middle and resumed from there', async () => {
        await grow('job-a', 6)
        const first: StoredEvent[] = []
        for await (const delivery of store.subscribe({ after: beforeAll, signal: ending().signal })) {
          if (delivery.kind === 'event') first.push(delivery.event)
          if (first.length === 2) break
        }
        const rest = await collect({ after: first[1]!.position }, lastIsCaughtUp)
        expect([...first, ...eventsOf(rest)]).toEqual((await store.readAll()).events)
      })

      test.each([1, 2, 3, 4, 5])(
        'misses and repeats nothing while appends race with the seam between catching up and live (seed %i)',
        async (seed) => {
          const random = randomFrom(seed)
          const streams = ['job-a', 'job-b', 'other-c']
          const total = 120
          const write = async (): Promise<void> => {
            const next = new Map(streams.map((stream) => [stream, 0]))
            for (let written = 0; written < total; ) {
              const stream = streams[random.below(streams.length)]!
              const count = Math.min(1 + random.below(3), total - written)
              const from = next.get(stream)!
              await store.append(stream, sealedEvents(stream, count, from), from === 0 ? 'no-stream' : from - 1)
              next.set(stream, from + count)
              written += count
              for (let turns = random.below(4); turns > 0; turns -= 1) await turn()
            }
          }
          const follow = async (startAfterTurns: number, filter: EventFilter): Promise<readonly StoredEvent[]> => {
            for (let turns = startAfterTurns; turns > 0; turns -= 1) await turn()
            const deliveries = await collect({ filter }, (all) => {
              const last = all.at(-1)
              return last?.kind === 'caughtUp' && finished && last.position >= head
            })
            return eventsOf(deliveries)
          }
          let finished = false
          let head = beforeAll
          const followers = [
            follow(0, {}),
            follow(random.below(20), {}),
            follow(random.below(100), {}),
            follow(random.below(20), { streamPrefix: 'job-' }),
          ]
          await write()
          head = await store.head()
          finished = true
          // One more event wakes a follower that has already seen the last one.
          await grow('end', 1)
          const { events } = await store.readAll()
          const isBefore = (event: StoredEvent): boolean => event.position <= head
          for (const [index, seen] of (await Promise.all(followers)).entries()) {
            const expected = index === 3 ? events.filter((event) => event.stream.startsWith('job-')) : events
            expect(seen.filter(isBefore).map((event) => event.position)).toEqual(
              expected.filter(isBefore).map((event) => event.position),
            )
          }
        },
      )
    })
  })
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
