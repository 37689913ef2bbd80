import { describe, expect, onTestFinished, test } from 'vitest'
import { followEvents } from '../../../../server/client/followEvents.ts'
import { pause } from '../../../../server/client/pause.ts'
import { randomFrom } from '../../../contract/seededRandom.ts'
import { cuttingProxy } from '../../../support/cuttingProxy.ts'
import { liveBench, type LiveBench, type StoreKind } from '../../../support/liveBench.ts'
import { readStream } from '../../../support/readStream.ts'
import { until } from '../../../support/until.ts'
import { follow } from './twentyLines.ts'

const cutsMax = 50

/** Follows through a line that is cut at fifty seeded moments while the log grows, and compares with the log at the end. */
const expectExact = async (
  seed: number,
  { store, hidden }: { readonly store: StoreKind; readonly hidden: boolean },
  begin: (url: string, bench: LiveBench, filter: { readonly jobId?: string }, take: (id: string) => void) => void,
) => {
  const random = randomFrom(seed)
  const bench = await liveBench({ store })
  const jobs = [await bench.job('red'), await bench.job('blue', 'other')]
  const proxy = await cuttingProxy(bench.url, (nth) => (nth < cutsMax ? random.below(6_000) : null))
  const got: string[] = []
  begin(proxy.url, bench, hidden ? { jobId: jobs[0]!.jobId } : {}, (id) => got.push(id))
  while (proxy.cuts() < cutsMax) {
    await jobs[random.below(2)]!.log(1 + random.below(4), 'x'.repeat(random.below(400)))
    await pause(1, new AbortController().signal)
  }
  const log = (await bench.inLog()).filter(({ stream }) => !hidden || stream.endsWith(jobs[0]!.jobId))
  await until('the last event', () => got.includes(log.at(-1)!.id), { describe: () => `${got.length} of ${log.length}` })
  expect(got).toEqual(log.map(({ id }) => id))
  expect(bench.faults).toEqual([])
  expect(log.length).toBeGreaterThan(100)
}

const kinds = [
  { store: 'memory', hidden: false },
  { store: 'memory', hidden: true },
  { store: 'sqlite', hidden: false },
  { store: 'sqlite', hidden: true },
] as const

describe.each(kinds)('what a follower is told over 50 cuts ($store store, filtered: $hidden) is the log, without a gap and without a repeat', (kind) => {
  test('by a script of twenty lines (seed 11)', async () => {
    await expectExact(11, kind, (url, _, { jobId }, take) => {
      onTestFinished(follow(url, jobId === undefined ? '' : `&jobId=${jobId}`, ({ id }) => take(id)))
    })
  })

  test('by followEvents (seed 12)', async () => {
    await expectExact(12, kind, (url, _, filter, take) => {
      const stop = new AbortController()
      onTestFinished(() => stop.abort())
      // Only the wait before another try is cut short.
      const brief = (ms: number, signal: AbortSignal) => pause(ms < 45_000 ? 1 : ms, signal)
      void (async () => {
        for await (const frame of followEvents({ url, after: 'start', ...filter, signal: stop.signal, sleep: brief })) {
          if (frame.kind === 'event') take(frame.event.id)
        }
      })()
    })
  })

  test('by a reader of server-sent events (seed 13)', async () => {
    await expectExact(13, kind, (url, _, { jobId }, take) => {
      const stop = new AbortController()
      onTestFinished(() => stop.abort())
      void (async () => {
        let lastEventId: string | undefined
        const address = `${url}/v1/events/stream?after=start${jobId === undefined ? '' : `&jobId=${jobId}`}`
        while (!stop.signal.aborted) {
          for await (const { id, event, data } of readStream(address, { signal: stop.signal, lastEventId })) {
            if (event === 'event') take((JSON.parse(data) as { event: { id: string } }).event.id)
            lastEventId = id
          }
          await pause(1, stop.signal)
        }
      })()
    })
  })
})
