import { describe, expect, onTestFinished, test } from 'vitest'
import { followEvents, type FollowOptions } from '../../../server/client/followEvents.ts'
import type { FollowedFrame } from '../../../server/client/liveFrame.ts'
import { liveBench } from '../../support/liveBench.ts'
import { manualClock, settled } from '../../support/manualClock.ts'
import { playedSockets } from './scriptedSocket.ts'

const mark = (position: string) => ({ kind: 'caught_up', position })

/** A follower whose time and server the test plays, with all that it was told. */
const followed = (over: Partial<FollowOptions> & { readonly native?: boolean } = {}) => {
  const clock = manualClock()
  const played = playedSockets({ native: over.native ?? false })
  const stop = new AbortController()
  onTestFinished(() => stop.abort())
  const waits: { reason: string; delayMs: number }[] = []
  const frames: FollowedFrame[] = []
  const iterate = async (): Promise<string> => {
    const options = { url: 'http://server', connect: played.connect, sleep: clock.sleep, luck: () => 0.5, signal: stop.signal, ...over }
    for await (const frame of followEvents({ ...options, onWait: (wait) => waits.push(wait) })) frames.push(frame)
    return 'ended'
  }
  const done = iterate().catch((error: unknown) => error)
  return { ...played, clock, stop, waits, frames, done }
}

describe('a follower that has lost its connection', () => {
  test('goes on from the last position it was told', async () => {
    const { sockets, clock, frames } = followed({ after: 'start' })
    await settled()
    sockets[0]!.say(mark('5'))
    sockets[0]!.end(1006)
    await clock.advance(1_000)
    sockets[1]!.say(mark('6'))
    await settled()
    expect(sockets.map(({ url }) => url)).toEqual(['ws://server/v1/events/live?after=start', 'ws://server/v1/events/live?after=5'])
    expect(frames).toEqual([mark('5'), mark('6')])
  })

  test('asks again with the place before the first event, which is an empty text', async () => {
    const { sockets, clock } = followed()
    await settled()
    sockets[0]!.say(mark(''))
    sockets[0]!.end(1001)
    await clock.advance(1_000)
    expect(sockets.map(({ url }) => new URL(url).search)).toEqual(['', '?after='])
  })

  test('waits longer each time, up to half a minute, and briefly again once it was told something', async () => {
    const { sockets, clock, waits } = followed()
    for (let times = 0; times < 9; times += 1) {
      await settled()
      sockets.at(-1)!.fail('connect ECONNREFUSED')
      await settled()
      await clock.advance(waits.at(-1)!.delayMs)
    }
    sockets.at(-1)!.say(mark('1'))
    sockets.at(-1)!.end(1006)
    await settled()
    const delays = [375, 750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500, 22_500, 375]
    expect(waits.map(({ delayMs }) => delayMs)).toEqual(delays)
    expect(waits.map(({ reason }) => reason).slice(-2)).toEqual(['connect ECONNREFUSED', 'the connection was lost'])
  })

  test('counts a socket that opens and says nothing as one more failure', async () => {
    const { sockets, clock, waits } = followed()
    await settled()
    sockets[0]!.end(1013)
    await clock.advance(1_000)
    sockets[1]!.end(1013)
    await settled()
    expect(waits.map(({ delayMs }) => delayMs)).toEqual([375, 750])
  })

  test('does not wait for ever on a line that has gone silent, and has more patience each time', async () => {
    const { sockets, clock, waits } = followed()
    await clock.advance(44_000)
    sockets[0]!.say(mark('1'))
    await clock.advance(44_000)
    expect(sockets).toHaveLength(1)
    await clock.advance(46_000 + 375)
    expect(sockets[0]!.isClosed()).toBe(true)
    await clock.advance(45_000)
    expect(sockets).toHaveLength(2)
    await clock.advance(2_000)
    expect(waits.map(({ reason }) => reason)).toEqual(['the server said nothing for 45 s', 'the server said nothing for 90 s'])
  })

  test.each(['{', 'null', '[]', '"x"', '{}'])('counts %s as a broken line', async (text) => {
    const { sockets, waits } = followed()
    await settled()
    sockets[0]!.say(text)
    await settled()
    expect([sockets[0]!.isClosed(), waits]).toMatchObject([true, [{ reason: 'what came is no frame' }]])
  })

  test('passes over a kind of frame that it does not know', async () => {
    const { sockets, frames } = followed()
    await settled()
    sockets[0]!.say({ kind: 'newer', position: '2' })
    sockets[0]!.say(mark('3'))
    await settled()
    expect(frames).toEqual([mark('3')])
  })
})

describe('a follower that reads slowly', () => {
  const read = async (native: boolean) => {
    const { sockets, connect } = playedSockets({ native })
    const stop = new AbortController()
    onTestFinished(() => stop.abort())
    const frames = followEvents({ url: 'http://server', connect, signal: stop.signal, sleep: manualClock().sleep })[Symbol.asyncIterator]()
    const first = frames.next()
    await settled()
    for (let nth = 0; nth < 1_500; nth += 1) sockets[0]!.say(mark(String(nth).padStart(4, '0')))
    await first
    return { sockets, frames }
  }

  test('has the server wait where the socket can', async () => {
    const { sockets, frames } = await read(false)
    expect(sockets[0]!.isPaused()).toBe(true)
    for (let nth = 1; nth < 1_500; nth += 1) expect((await frames.next()).value).toEqual(mark(String(nth).padStart(4, '0')))
    expect([sockets[0]!.isPaused(), sockets.length]).toEqual([false, 1])
  })

  test('leaves a socket that cannot wait, and goes on at once where it stopped', async () => {
    const { sockets, frames } = await read(true)
    expect(sockets[0]!.isClosed()).toBe(true)
    for (let nth = 1; nth < 1_000; nth += 1) expect((await frames.next()).value).toEqual(mark(String(nth).padStart(4, '0')))
    const next = frames.next()
    await settled()
    expect(sockets[1]!.url).toBe('ws://server/v1/events/live?after=0999')
    sockets[1]!.say(mark('1000'))
    expect((await next).value).toEqual(mark('1000'))
  })
})

describe('a follower ends', () => {
  test.each([
    [4400, 'query: unknown field "x"', 'ask for something else'],
    [4401, 'the token was revoked or has expired', 'give a token that is valid (knovaryn token create)'],
    [4403, 'token "a" is not for project "b"', 'ask for what the token allows, or give another one'],
    [4409, 'position "x" is not of this log', 'follow from "start", or from a position that this log gave out'],
  ])('where it is closed with %i, and says what to do', async (code, message, what) => {
    const { sockets, done } = followed()
    await settled()
    sockets[0]!.say({ kind: 'error', code: 'some_code', message })
    sockets[0]!.end(code)
    expect(await done).toMatchObject({ code: 'some_code', message: `the server does not tell these events: ${message}: ${what}` })
    expect(sockets).toHaveLength(1)
  })

  test('and closes its socket when the signal aborts', async () => {
    const { sockets, stop, done } = followed()
    await settled()
    stop.abort()
    expect([await done, sockets[0]!.isClosed()]).toEqual(['ended', true])
  })

  test('when the signal aborts amid a wait', async () => {
    const { sockets, stop, done } = followed()
    await settled()
    sockets[0]!.end(1006)
    await settled()
    stop.abort()
    expect([await done, sockets.length]).toEqual(['ended', 1])
  })

  test('and closes its socket when nobody reads on', async () => {
    const { sockets, connect } = playedSockets()
    const reading = (async () => {
      for await (const _ of followEvents({ url: 'http://server', connect })) break
    })()
    await settled()
    sockets[0]!.say(mark('1'))
    await reading
    expect(sockets[0]!.isClosed()).toBe(true)
  })

  test.each([
    [{ url: 'server' }, '"server" is no address of a server: give one such as http://127.0.0.1:8080'],
    [{ url: 'ftp://server' }, '"ftp://server" is no address of a server: give one such as http://127.0.0.1:8080'],
    [{ token: 'kno a' }, 'the token holds characters that no token has'],
    [{ token: 'kno\r\nx: y' }, 'the token holds characters that no token has'],
  ])('before it connects for %j', async (over, message) => {
    const { sockets, done } = followed(over)
    expect(await done).toMatchObject({ code: 'invalid_input', message })
    expect(sockets).toHaveLength(0)
  })
})

test('what is asked, and the token as a protocol, reach the server', async () => {
  const { sockets } = followed({
    url: 'https://server/prefix', token: 'kno_a', after: 'end', jobId: 'abc', projectIds: ['red & blue', 'green'], types: ['JobFailed', 'JobSucceeded'],
  })
  await settled()
  const { url, protocols } = sockets[0]!
  expect(url).toBe('wss://server/prefix/v1/events/live?after=end&jobId=abc&projectId=red+%26+blue&projectId=green&types=JobFailed%2CJobSucceeded')
  expect(protocols).toEqual(['knovaryn.v1', 'bearer.kno_a'])
})

test('with the real server a revoked token ends the iteration, and another goes on without a gap (O-27)', async () => {
  const { url, job, token, access, inLog } = await liveBench()
  const { log } = await job('one')
  await log(2)
  const got: FollowedFrame[] = []
  const read = async (given: string, after: string) => {
    for await (const frame of followEvents({ url, token: given, after })) {
      got.push(frame)
      if (frame.kind === 'caught_up') return
    }
  }
  const revoked = async (given: string) => {
    for await (const _ of followEvents({ url, token: given })) await access.revoke('read-1')
  }
  const first = await token()
  await read(first, 'start')
  await expect(revoked(first)).rejects.toMatchObject({ code: 'unauthenticated', details: { closeCode: 4401 } })
  await log(2)
  await read(await token(), got.at(-1)!.position)
  const ids = got.flatMap((frame) => (frame.kind === 'event' ? [frame.event.id] : []))
  expect(ids).toEqual((await inLog()).map(({ id }) => id))
})
