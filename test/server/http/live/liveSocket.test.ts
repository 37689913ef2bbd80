import { describe, expect, test } from 'vitest'
import { liveBench } from '../../../support/liveBench.ts'
import { openSocket } from '../../../support/liveFollower.ts'
import { manualClock } from '../../../support/manualClock.ts'
import { until } from '../../../support/until.ts'

const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id)

describe.each(['memory', 'sqlite'] as const)('a socket over a %s store', (store) => {
  test('is told what is in the log, where that ends, and then what comes', async () => {
    const { url, job, inLog } = await liveBench({ store })
    const { log } = await job('one')
    await log(3)
    const { told, caughtUp, frames, events } = openSocket(url, '?after=start')
    await caughtUp()
    expect(frames.map(({ kind }) => kind)).toEqual(['event', 'event', 'event', 'event', 'caught_up'])
    await log(2)
    await told(6)
    expect(idsOf(events())).toEqual(idsOf(await inLog()))
    expect(frames.filter(({ kind }) => kind === 'caught_up')).toEqual([{ kind: 'caught_up', position: (await inLog())[3]!.position }])
  })

  test('begins at the end where nothing else is asked', async () => {
    const { url, job, inLog } = await liveBench({ store })
    const { log } = await job('one')
    const { told, caughtUp, frames } = openSocket(url, '')
    await caughtUp()
    await log()
    await told(1)
    const [first, second] = await inLog()
    expect(frames).toMatchObject([{ kind: 'caught_up', position: first!.position }, { kind: 'event', position: second!.position }])
  })

  test('is told only of its job, its project, its types', async () => {
    const { url, job, inLog } = await liveBench({ store })
    const red = await job('one', 'red')
    const blue = await job('one', 'blue')
    const sockets = [`&jobId=${red.jobId.slice(0, 16)}`, '&projectId=blue', '&types=JobSubmitted', '&projectId=red&types=JobLogged,JobFailed'].map((query) =>
      openSocket(url, `?after=start${query}`),
    )
    for (const socket of sockets) await socket.caughtUp()
    await red.log(2)
    await blue.log(3)
    await job('two', 'blue')
    for (const [nth, count] of [3, 5, 3, 2].entries()) await sockets[nth]!.told(count)
    const all = await inLog()
    const wanted = [
      all.filter(({ stream }) => stream.endsWith(red.jobId)),
      all.filter(({ meta }) => meta.includes('"blue"')),
      all.filter(({ type }) => type === 'JobSubmitted'),
      all.filter(({ meta, type }) => meta.includes('"red"') && type === 'JobLogged'),
    ]
    expect(sockets.map(({ events }) => idsOf(events()))).toEqual(wanted.map(idsOf))
  })
})
