import { describe, expect, onTestFinished, test } from 'vitest'
import { JobId } from '../../../../domain/ids.ts'
import { numberOf, positionOf } from '../../../../domain/numberedPosition.ts'
import type { JobEvent } from '../../../../domain/job/events.ts'
import type { LiveFrame, LiveQuery } from '../../../../server/engine.ts'
import { follower } from '../../../../server/http/live/follower.ts'
import { liveHub } from '../../../../server/http/live/liveHub.ts'
import { bell } from '../../../../domain/bell.ts'
import { randomFrom } from '../../../contract/seededRandom.ts'
import { instant, jobId, sha } from '../../../support/controls.ts'
import { manualClock, settled } from '../../../support/manualClock.ts'

/** A log of numbered events, one of three jobs each, that tells how often it was read; `breaks` at an event it cannot read. */
const numberedLog = () => {
  const news = bell()
  const bytes: number[] = []
  let [readers, breaks] = [0, -1]
  const jobOf = (nth: number) => JobId.parse(`${jobId.slice(0, -1)}${nth % 3}`)
  const event = (nth: number): JobEvent => ({
    type: 'JobLogged',
    data: { level: 'info', message: 'x'.repeat(bytes[nth - 1]!) },
    id: String(nth),
    schemaVersion: 1,
    jobId: jobOf(nth),
    revision: nth,
    position: positionOf(nth),
    recordedAt: instant(nth),
    hash: sha('0'),
    meta: { projectId: 'default', actor: 'test', commandId: `c${nth}` },
  })
  async function* live({ after, jobId: only }: LiveQuery, signal: AbortSignal): AsyncGenerator<LiveFrame> {
    readers += 1
    let position = after === 'end' || after === undefined ? bytes.length : after === 'start' ? 0 : numberOf(after)
    let markedAt = -1
    while (!signal.aborted) {
      const rung = news.rung()
      while (position < bytes.length) {
        position += 1
        if (position === breaks) throw new Error(`event ${position} is broken`)
        if (only === undefined || jobOf(position) === only) yield { kind: 'event', position: positionOf(position), event: event(position) }
        if (signal.aborted) return
      }
      if (markedAt !== position) yield { kind: 'caught_up', position: positionOf(position) }
      markedAt = position
      await news.past(rung, signal)
    }
  }
  return {
    live,
    append: (...sizes: readonly number[]) => {
      bytes.push(...sizes)
      news.ring()
    },
    jobOf,
    length: () => bytes.length,
    readers: () => readers,
    breakAt: (nth: number) => (breaks = nth),
  }
}

const world = () => {
  const log = numberedLog()
  const clock = manualClock()
  const faults: unknown[] = []
  const hub = liveHub({ follow: (after, signal) => log.live({ after }, signal), fault: (error) => faults.push(error) })
  onTestFinished(() => hub.rest())
  const follow = (query: LiveQuery, roomOf: () => number = () => Number.POSITIVE_INFINITY) => {
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    const got: number[] = []
    const marks: number[] = []
    let [room, drain] = [roomOf(), () => {}]
    const outlet = {
      event: ({ position, frame }: { position: string; frame: Buffer }) => {
        got.push(numberOf(position))
        room -= frame.length
      },
      caughtUp: (position: string) => void marks.push(numberOf(position)),
      alive: () => {},
      isFull: () => room < 0,
      drained: () => new Promise<void>((resolve) => (drain = resolve)),
    }
    const read = (): void => {
      room = roomOf()
      drain()
    }
    const told = follower(hub, clock, { live: log.live, query, outlet, signal: stop.signal })
    const done = told.run().catch((error: unknown) => error)
    return { ...told, got, marks, stop, done, isFull: outlet.isFull, read }
  }
  return { log, clock, hub, faults, follow }
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, nth) => first + nth)

describe('followers at the end of a log', () => {
  test('share one reader of it, however many they are', async () => {
    const { log, follow } = world()
    log.append(1, 1, 1)
    const all = Array.from({ length: 20 }, (_, nth) => follow(nth % 2 === 0 ? { after: 'start' } : { after: positionOf(2) }))
    await settled()
    const readers = log.readers()
    for (let times = 0; times < 50; times += 1) {
      log.append(10)
      await settled()
    }
    expect(log.readers()).toBe(readers)
    expect(all.map(({ got }) => got)).toEqual(all.map((_, nth) => upTo(53, nth % 2 === 0 ? 1 : 3)))
    expect(all.every(({ marks }) => marks.length === 1)).toBe(true)
  })

  test('are each told the events of their own job alone', async () => {
    const { log, follow } = world()
    const all = [0, 1, 2].map((nth) => follow({ after: 'start', jobId: log.jobOf(nth) }))
    await settled()
    for (let times = 0; times < 30; times += 1) {
      log.append(10)
      await settled()
    }
    expect(all.map(({ got }) => got)).toEqual([0, 1, 2].map((nth) => upTo(30).filter((number) => number % 3 === nth)))
  })

  test('leave the log alone once the last of them has gone', async () => {
    const { log, hub, follow } = world()
    const { stop, done } = follow({})
    await settled()
    stop.abort()
    await done
    hub.rest()
    await settled()
    const again = follow({ after: 'start' })
    log.append(1, 1)
    await settled()
    expect(again.got).toEqual([1, 2])
  })

  test('go on from the log, each by itself, when the shared reader fails at an event that not all follow', async () => {
    const { log, faults, follow } = world()
    const [all, other] = [follow({}), follow({ jobId: log.jobOf(1) })]
    await settled()
    log.append(10)
    await settled()
    log.breakAt(3)
    log.append(10, 10, 10)
    await settled()
    // Number 3 is of no other job than the first, so only who follows everything meets it.
    expect(await all.done).toMatchObject({ message: 'event 3 is broken' })
    expect(String(faults[0])).toContain('event 3 is broken')
    expect(other.got).toEqual([1])
  })
})

describe('a follower that reads slowly', () => {
  test.each([1, 2, 3, 4, 5])('is told everything once and in order, from the log and from what is shared (seed %i)', async (seed) => {
    const random = randomFrom(seed)
    const { log, clock, follow } = world()
    const all = [
      follow({ after: 'start' }),
      follow({ after: 'start' }, () => random.below(3_000)),
      follow({ after: 'start' }, () => random.below(100_000)),
      follow({ after: 'start', jobId: log.jobOf(1) }, () => random.below(2_000)),
    ]
    for (let times = 0; times < 400; times += 1) {
      if (random.below(2) === 0) log.append(...Array.from({ length: random.below(40) }, () => random.below(4_000)))
      if (random.below(5) === 0) await clock.advance(random.below(1_500))
      for (const { isFull, read } of all) if (isFull() && random.below(4) === 0) read()
      await settled()
    }
    for (let times = 0; times < 20_000 && all.some(({ marks }) => marks.at(-1) !== log.length()); times += 1) {
      for (const { isFull, read } of all) if (isFull()) read()
      if (times % 50 === 0) await clock.advance(1_000)
      else await settled()
      for (const { beat } of all) beat(clock.monotonic() + 1e6 * times)
    }
    const wanted = upTo(log.length())
    expect(all.map(({ got }) => got)).toEqual([wanted, wanted, wanted, wanted.filter((nth) => nth % 3 === 1)])
    expect(log.length()).toBeGreaterThan(2_000)
  })

  test('lets go of the page it was read from when it takes nothing for a second', async () => {
    const { log, clock, follow } = world()
    log.append(...upTo(10).map(() => 100))
    const slow = follow({ after: 'start' }, () => 250)
    await settled()
    const readers = log.readers()
    await clock.advance(1_100)
    slow.read()
    await settled()
    expect(log.readers()).toBe(readers + 1)
    expect(slow.got).toEqual(upTo(slow.got.length))
  })
})
