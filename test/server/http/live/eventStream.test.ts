import { describe, expect, onTestFinished, test } from 'vitest'
import { liveBench } from '../../../support/liveBench.ts'
import { manualClock } from '../../../support/manualClock.ts'
import { readStream, type ServerSent } from '../../../support/readStream.ts'
import { until } from '../../../support/until.ts'

/** A stream that is read until the test is over, and all that came. */
const openStream = (url: string, query = '', options: { readonly token?: string; readonly lastEventId?: string } = {}) => {
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const sent: ServerSent[] = []
  let isOver = false
  void (async () => {
    for await (const one of readStream(`${url}/v1/events/stream${query}`, { signal: stop.signal, ...options })) sent.push(one)
    isOver = true
  })()
  return {
    sent,
    close: () => stop.abort(),
    come: (count: number) => until(`${count} frames`, () => sent.length >= count),
    over: () => until('the end of the stream', () => isOver),
  }
}

describe('a stream of server-sent events', () => {
  test('holds the frames of a socket, named by their kind, with their position as the id', async () => {
    const { url, job, inLog, faults } = await liveBench()
    const { log } = await job('one')
    const { sent, come } = openStream(url, '?after=start')
    await come(2)
    await log()
    await come(3)
    const [first, second] = await inLog()
    expect(sent.map(({ event, id }) => [event, id])).toEqual([
      ['event', first!.position],
      ['caught_up', first!.position],
      ['event', second!.position],
    ])
    expect(sent.map(({ data }) => JSON.parse(data) as unknown)).toMatchObject([
      { kind: 'event', position: first!.position, event: { id: first!.id, type: 'JobSubmitted' } },
      { kind: 'caught_up', position: first!.position },
      { kind: 'event', position: second!.position, event: { id: second!.id, type: 'JobLogged' } },
    ])
    expect(faults).toEqual([])
  })

  test('goes on behind the last id, whatever its address says', async () => {
    const { url, job, inLog } = await liveBench()
    const { log } = await job('one')
    await log(3)
    const [, second, third] = await inLog()
    const { sent, come } = openStream(url, '?after=start', { lastEventId: second!.position })
    await come(2)
    expect(sent[0]).toMatchObject({ event: 'event', id: third!.position })
  })

  test('of an empty log has an id to go on from', async () => {
    const { url, job, inLog } = await liveBench()
    const first = openStream(url)
    await first.come(1)
    expect(first.sent).toMatchObject([{ event: 'caught_up', id: 'start' }])
    first.close()
    await job('one')
    const second = openStream(url, '', { lastEventId: 'start' })
    await second.come(1)
    expect(second.sent[0]).toMatchObject({ event: 'event', id: (await inLog())[0]!.position })
  })

  test('is no stream that is kept anywhere', async () => {
    const { url } = await liveBench()
    const stop = new AbortController()
    const { status, headers } = await fetch(`${url}/v1/events/stream`, { signal: stop.signal })
    stop.abort()
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([200, 'text/event-stream; charset=utf-8', 'no-store'])
    expect(headers.get('x-content-type-options')).toBe('nosniff')
  })

  test('says every ten seconds how far all has been told', async () => {
    const clock = manualClock()
    const { url, job, inLog } = await liveBench({ clock })
    const { sent, come } = openStream(url, '?types=JobFailed')
    await come(1)
    await job('one')
    await clock.advance(10_000)
    await come(2)
    expect(sent.map(({ event, id }) => [event, id])).toEqual([['caught_up', 'start'], ['caught_up', (await inLog())[0]!.position]])
  })

  test('whose reader takes nothing for long is ended, and another is told everything (O-26)', async () => {
    const clock = manualClock()
    const { url, job, connections, inLog } = await liveBench({ clock })
    const { log } = await job('one')
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    const unread = await fetch(`${url}/v1/events/stream?after=start`, { signal: stop.signal })
    for (let megabytes = 0; megabytes < 20; megabytes += 1) await log(100, 'x'.repeat(10_000))
    await until('it to be ended', async () => {
      await clock.advance(10_000)
      return connections() === 0
    })
    expect(unread.bodyUsed).toBe(false)
    const other = openStream(url, '?after=start')
    await other.come(2_002)
    expect(other.sent.slice(0, -1).map(({ id }) => id)).toEqual((await inLog()).map(({ position }) => position))
  })

  test('ends with its token, and says so (O-27)', async () => {
    const { url, job, token, access } = await liveBench()
    const { log } = await job('one')
    const given = await token()
    const { sent, come, over } = openStream(url, '', { token: given })
    await come(1)
    await access.revoke('read-1')
    await log()
    await over()
    expect(sent.slice(1).map(({ event, data }) => [event, JSON.parse(data) as unknown])).toMatchObject([['error', { kind: 'error', code: 'unauthenticated' }]])
    expect((await fetch(`${url}/v1/events/stream`, { headers: { authorization: `Bearer ${given}` } })).status).toBe(401)
  })

  test('ends when the server stops', async () => {
    const { url, close } = await liveBench()
    const { sent, come, over } = openStream(url)
    await come(1)
    await Promise.all([close(), over()])
    expect(sent.at(-1)).toMatchObject({ event: 'error' })
  })

  test.each([
    ['?afer=start', 400, 'query: unknown field "afer": did you mean "after"?'],
    ['?types=Foo', 400, 'which is no type of event'],
    ['?jobId=ff', 404, 'there is no job "ff"'],
    ['?after=x', 409, 'position "x" is not of this log: follow it from "start"'],
    ['?projectId=blue', 403, 'is not for project "blue", only for red'],
  ])('is refused as a problem for %s', async (query, status, detail) => {
    const { url, token, connections, faults } = await liveBench()
    const answer = await fetch(`${url}/v1/events/stream${query}`, { headers: { authorization: `Bearer ${await token('read', ['red'])}` } })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json; charset=utf-8'])
    expect(JSON.stringify(await answer.json())).toContain(JSON.stringify(detail).slice(1, -1))
    expect([connections(), faults]).toEqual([0, []])
  })

  test('is refused for a position of another log in its header', async () => {
    const { url } = await liveBench()
    const answer = await fetch(`${url}/v1/events/stream?after=start`, { headers: { 'last-event-id': '9'.repeat(16) } })
    expect(answer.status).toBe(409)
  })
})

test('the address of the socket, asked without one, says where there are streams', async () => {
  const { url } = await liveBench()
  const answer = await fetch(`${url}/v1/events/live`)
  expect([answer.status, await answer.json()]).toMatchObject([400, { detail: 'open a WebSocket here, or read /v1/events/stream' }])
})
