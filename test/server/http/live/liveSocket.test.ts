import { readdirSync } from 'node:fs'
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

describe('a socket is refused with a frame that says why, and', () => {
  const refusal = async (url: string, query: string, options: Parameters<typeof openSocket>[2] = {}) => {
    const { closed, frames } = openSocket(url, query, options)
    const code = await closed
    return { code, frames }
  }

  test.each([
    ['?afer=start', 'unknown field "afer": did you mean "after"?'],
    ['?after=start&after=end', '"after" must be of type string, not array'],
    [`?after=${'9'.repeat(201)}`, '"after"'],
    ['?types=', '"types.0" names "", which is no type of event'],
    ['?types=JobSubmited', '"types.0" names "JobSubmited", which is no type of event: did you mean JobSubmitted?'],
    ['?types=JobSubmitted,__proto__', '"types.1" names "__proto__"'],
    ['?types=constructor', '"types.0" names "constructor"'],
    ['?jobId=', '"jobId"'],
    ['?jobId=a&jobId=b', '"jobId" must be of type string, not array'],
    ['?jobId=%2e%2e%2f', 'there is no job "../"'],
    ['?jobId=%00', 'there is no job'],
    ['?jobId=ffffffffffffffffffffffffffffffff', 'there is no job "ffffffffffffffffffffffffffffffff"'],
    ['?jobId=%f0%9f', 'there is no job'],
    ['?projectId=', '"projectId" must be the name of a project'],
    [`?${'projectId=a&'.repeat(101)}`, '"projectId" must be the name of a project, at most 100 times'],
    ['?__proto__=1', 'unknown field'],
    ['?after[x]=1', 'unknown field "after[x]"'],
  ])('closed with 4400 for %s', async (query, message) => {
    const { url, faults } = await liveBench()
    const { code, frames } = await refusal(url, query)
    expect({ code, frames }).toMatchObject({ code: 4400, frames: [{ kind: 'error' }] })
    expect(JSON.stringify(frames)).toContain(JSON.stringify(message).slice(1, -1))
    expect(faults).toEqual([])
  })

  test.each(['9'.repeat(16), 'x', '1', '-1', '0000000000000002 ', '9007199254740993', 'end%00'])('closed with 4409 for the position %s, which is of another log (O-25, OX-01)', async (after) => {
    const { url, job, faults } = await liveBench({ store: 'sqlite' })
    await job('one')
    const { code, frames } = await refusal(url, `?after=${after}`)
    expect({ code, frames }).toMatchObject({ code: 4409, frames: [{ kind: 'error', code: 'foreign_position' }] })
    expect(faults).toEqual([])
  })

  test('closed with 4401 where a token is needed, and given neither in a header nor as a protocol', async () => {
    const { url, token } = await liveBench()
    const good = await token()
    for (const options of [{}, { token: 'kno_wrong' }, { protocols: ['knovaryn.v1', 'bearer.kno_wrong'] }, { token: '' }]) {
      expect(await refusal(url, '', options)).toMatchObject({ code: 4401, frames: [{ kind: 'error', code: 'unauthenticated' }] })
    }
    const { socket, caughtUp } = openSocket(url, '', { protocols: ['knovaryn.v1', `bearer.${good}`] })
    await caughtUp()
    expect(socket.protocol).toBe('knovaryn.v1')
  })

  test('closed with 4403 for a project that the token is not for, and told nothing of a job of it', async () => {
    const { url, job, token } = await liveBench()
    const blue = await job('secret', 'blue')
    const red = await token('read', ['red'])
    expect(await refusal(url, '?projectId=blue', { token: red })).toMatchObject({ code: 4403, frames: [{ kind: 'error', code: 'forbidden' }] })
    const [known, unknown] = [
      await refusal(url, `?jobId=${blue.jobId}`, { token: red }),
      await refusal(url, `?jobId=${'f'.repeat(32)}`, { token: red }),
    ]
    const anonymous = (told: object) => JSON.stringify(told).replaceAll(blue.jobId, 'f'.repeat(32))
    expect(anonymous(known)).toBe(anonymous(unknown))
  })

  test('sees nothing of another project where it names none', async () => {
    const { url, job, token, inLog } = await liveBench()
    const jobs = [await job('one', 'red'), await job('one', 'blue')]
    const red = openSocket(url, '?after=start', { token: await token('read', ['red']) })
    await red.caughtUp()
    for (const { log } of [...jobs, ...jobs]) await log()
    await red.told(3)
    expect(idsOf(red.events())).toEqual(idsOf((await inLog()).filter(({ meta }) => meta.includes('"red"'))))
  })

  test('never opened for a page of another server', async () => {
    const { url } = await liveBench()
    const { closed, refused } = openSocket(url, '', { origin: 'https://evil.example' })
    await closed
    expect(refused()).toContain('403')
    const own = openSocket(url, '', { origin: url })
    await own.caughtUp()
  })

  test('closed with 1013 where as many follow as may, while everything else is answered, until one has left (OX-09)', async () => {
    const { url, connections } = await liveBench({ connectionsMax: 2 })
    const [first] = [openSocket(url, ''), openSocket(url, '')]
    await until('both', () => connections() === 2)
    expect(await refusal(url, '')).toMatchObject({ code: 1013, frames: [{ kind: 'error', code: 'try_again_later' }] })
    expect((await fetch(`${url}/v1/events/stream`)).status).toBe(503)
    expect((await fetch(`${url}/v1/jobs`)).status).toBe(200)
    first.socket.close()
    await until('one to have left', () => connections() === 1)
    await openSocket(url, '').caughtUp()
  })
})

describe('the token of an open socket', () => {
  test('ends it with 4401 once it is revoked, and no event comes after; another token goes on without a gap (O-27)', async () => {
    const { url, job, token, access, inLog } = await liveBench({ store: 'sqlite' })
    const { log } = await job('one')
    const first = openSocket(url, '?after=start', { token: await token() })
    await first.caughtUp()
    await log()
    await first.told(2)
    await access.revoke('read-1')
    await log(3)
    expect(await first.closed).toBe(4401)
    expect(first.frames.at(-1)).toMatchObject({ kind: 'error', code: 'unauthenticated' })
    expect(first.events()).toHaveLength(2)
    const last = first.frames.findLast((frame) => frame.kind === 'event')!
    const second = openSocket(url, `?after=${last.position}`, { token: await token() })
    await second.told(3)
    expect(idsOf([...first.events(), ...second.events()])).toEqual(idsOf(await inLog()))
  })

  test('ends it when it expires (O-27)', async () => {
    const clock = manualClock(Date.now())
    const { url, access } = await liveBench({ clock })
    const expiresAt = new Date(clock.now() + 60_000).toISOString()
    const { token } = await access.create({ name: 'brief', role: 'read', projects: null, expiresAt })
    const { caughtUp, closed } = openSocket(url, '', { token })
    await caughtUp()
    await clock.advance(61_000)
    expect(await closed).toBe(4401)
  })

  test('is needed from the moment there is one, also by who came before', async () => {
    const clock = manualClock()
    const { url, token } = await liveBench({ clock })
    const { caughtUp, closed } = openSocket(url, '')
    await caughtUp()
    await token()
    await clock.advance(5_000)
    expect(await closed).toBe(4401)
  })
})

describe('an open socket', () => {
  test('is told every ten seconds how far all has been told, counting what the query hides', async () => {
    const clock = manualClock()
    const { url, job, inLog } = await liveBench({ clock })
    const { log } = await job('one')
    const { caughtUp, frames } = openSocket(url, '?types=JobFailed')
    await caughtUp()
    for (const count of [0, 3, 0]) {
      if (count > 0) await log(count)
      await clock.advance(10_000)
    }
    await until('three more marks', () => frames.length === 4)
    const positions = (await inLog()).map(({ position }) => position)
    expect(frames).toEqual([0, 0, 3, 3].map((nth) => ({ kind: 'caught_up', position: positions[nth] })))
  })

  test('that answers no ping for 90 seconds is ended, and one that does is not', async () => {
    const clock = manualClock()
    const { url, connections } = await liveBench({ clock })
    const [silent, alive] = [openSocket(url, '', { autoPong: false }), openSocket(url, '')]
    let pings = 0
    alive.socket.on('ping', () => (pings += 1))
    await silent.caughtUp()
    await alive.caughtUp()
    for (const count of [1, 2, 3]) {
      await clock.advance(30_000)
      await until('the ping', () => pings === count || count === 3)
      // By the time that this is answered, the answer to the ping has been read.
      await fetch(`${url}/healthz`)
    }
    expect(await silent.closed).toBe(1006)
    expect([alive.socket.readyState, connections()]).toEqual([alive.socket.OPEN, 1])
  })

  test('is told that the server stops, with 1001', async () => {
    const { url, close } = await liveBench()
    const { caughtUp, closed, frames } = openSocket(url, '')
    await caughtUp()
    await Promise.all([close(), expect(closed).resolves.toBe(1001)])
    expect(frames.at(-1)).toMatchObject({ kind: 'error', code: 'closing' })
  })

  test('has nothing to say: what it says is not read, and too much of it ends the socket', async () => {
    const { url, job, faults } = await liveBench()
    const { log } = await job('one')
    const { socket, caughtUp, told, closed } = openSocket(url, '')
    await caughtUp()
    socket.send('{"kind":"event"}')
    socket.send(Buffer.from([0xff, 0xfe]))
    await log()
    await told(1)
    socket.send('x'.repeat(100_000))
    expect([1006, 1009]).toContain(await closed)
    expect(faults).toEqual([])
  })

  test('of one server is told what is written through another on the same folder (O-24)', async () => {
    const first = await liveBench({ store: 'sqlite' })
    const second = await liveBench({ store: 'sqlite', folder: first.folder })
    const { caughtUp, told, events } = openSocket(second.url, '?after=start')
    await caughtUp()
    const { log } = await first.job('one')
    await log(4)
    await told(5)
    expect(idsOf(events())).toEqual(idsOf(await second.inLog()))
  })

  test('that reads nothing holds no more than a few frames here, and is told everything once it reads (O-26)', async () => {
    const { url, job, inLog, held } = await liveBench({ store: 'sqlite' })
    const { log } = await job('one')
    const [slow, other] = [openSocket(url, '?after=start'), openSocket(url, '?after=start')]
    await slow.caughtUp()
    await other.caughtUp()
    slow.socket.pause()
    const megabyte = 100
    for (let written = 0; written < 20; written += 1) await log(megabyte, 'x'.repeat(10_000))
    await other.told(1 + 20 * megabyte)
    expect(Math.max(...held())).toBeLessThan(200_000)
    slow.socket.resume()
    await slow.told(1 + 20 * megabyte)
    const ids = idsOf(await inLog())
    expect([idsOf(slow.events()), idsOf(other.events())]).toEqual([ids, ids])
  })

  test('leaves nothing behind when it closes, however often (OX-09)', async () => {
    const { url, connections, held } = await liveBench()
    const files = () => readdirSync('/proc/self/fd').length
    const openAndClose = async () => {
      const opened = Array.from({ length: 50 }, () => openSocket(url, ''))
      for (const { caughtUp } of opened) await caughtUp()
      for (const { socket, closed } of opened) {
        socket.close()
        await closed
      }
    }
    await openAndClose()
    const before = files()
    for (let times = 0; times < 10; times += 1) await openAndClose()
    await until('no more open files than before', () => files() <= before)
    expect([connections(), held()]).toEqual([0, []])
  })
})
