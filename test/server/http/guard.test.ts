import { networkInterfaces } from 'node:os'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Workplace } from '../../../server/engine.ts'
import { serverOf } from '../../../server/serve.ts'
import { ask } from '../../support/asking.ts'
import { serverBench } from '../../support/serverBench.ts'
import { told } from '../../support/told.ts'
import { batch } from './routeCases.ts'

const jobs = { path: '/v1/jobs' }
const submit = { method: 'POST', path: '/v1/jobs', body: batch() }
const noToken = 'a'.repeat(40)

describe('a server without tokens', () => {
  test('serves whoever is at this machine', async () => {
    const { url } = await serverBench()
    expect((await ask(url, jobs)).status).toBe(200)
  })

  test('serves nobody who gives a token that was never made', async () => {
    const { url } = await serverBench()
    expect((await ask(url, { ...jobs, token: noToken })).json).toMatchObject({ status: 401, code: 'unauthenticated' })
  })

  test.each(['localhost', '127.0.0.1', '[::1]', 'LOCALHOST'])('O-30: answers to the name %s of this machine', async (name) => {
    const { url } = await serverBench()
    expect(await told(url, `GET /v1/jobs HTTP/1.1\r\nHost: ${name}:1\r\nConnection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /)
  })

  test.each(['rebound.example', 'localhost.evil.example', '127.0.0.1.evil.example', '10.0.0.1'])(
    'O-30: does not answer to the name %s that somebody pointed here',
    async (name) => {
      const { url } = await serverBench()
      const heard = await told(url, `GET /v1/jobs HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)
      expect(heard).toMatch(/^HTTP\/1\.1 403 .*"code":"foreign_host"/s)
    },
  )

  test('O-30: asks everybody for a token from the first one on, without a new start', async () => {
    const { url, token } = await serverBench()
    expect((await ask(url, jobs)).status).toBe(200)
    const given = await token('read')
    const refused = await ask(url, jobs)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    expect((await ask(url, { ...jobs, token: given })).status).toBe(200)
  })
})

describe('O-30: an address that other machines reach', () => {
  const lan = Object.values(networkInterfaces())
    .flat()
    .filter((each) => each?.internal === false && each.family === 'IPv4')
    .map((each) => each?.address ?? '')

  const listening = async (workplace: Workplace, host: string): Promise<string> => {
    const server = await serverOf(workplace, { fault: () => {} })
    onTestFinished(() => server.close(0))
    return server.listen({ host, port: 0 })
  }

  test.each(['0.0.0.0', '::', '[::]', ...lan])('%s is refused without a token, and the option is named', async (host) => {
    const { workplace } = await serverBench()
    await expect(listening(workplace, host)).rejects.toThrow(/^--host .* can be reached from other machines.*knovaryn token create/)
  })

  test('is served once there is a token, to those who have it', async () => {
    const { workplace, token } = await serverBench()
    const given = await token('read')
    const url = (await listening(workplace, '0.0.0.0')).replace('0.0.0.0', '127.0.0.1')
    expect((await ask(url, jobs)).status).toBe(401)
    expect((await ask(url, { ...jobs, token: given })).status).toBe(200)
  })

  test('a name that is none is refused by name', async () => {
    const { workplace } = await serverBench()
    await expect(listening(workplace, 'no-such-host.invalid')).rejects.toThrow('--host "no-such-host.invalid" is no address')
  })

  test('a port that is taken is refused by number', async () => {
    const { workplace, url } = await serverBench()
    const port = Number(new URL(url).port)
    const server = await serverOf(workplace, { fault: () => {} })
    await expect(server.listen({ host: '127.0.0.1', port })).rejects.toThrow(`--port ${port} of --host 127.0.0.1 is taken`)
  })
})

describe('a token', () => {
  test('that is unknown or revoked opens nothing, and the answers do not tell which', async () => {
    const { url, token, workplace } = await serverBench()
    const revoked = await token('admin')
    await workplace.access.revoke('admin-1')
    const answers = await Promise.all([noToken, revoked, `${revoked}x`, ''].map((each) => ask(url, { ...submit, token: each })))
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(answers[0]?.json).toMatchObject({ status: 401, code: 'unauthenticated' })
    expect((await workplace.engine.list({})).items).toEqual([])
  })

  test('that has expired opens nothing', async () => {
    const { url, workplace } = await serverBench()
    const expiresAt = new Date(Date.now() + 300).toISOString()
    const { token } = await workplace.access.create({ name: 'short', role: 'read', projects: null, expiresAt })
    const ended = workplace.access.until(token)
    expect((await ask(url, { ...jobs, token })).status).toBe(200)
    await new Promise<void>((resolve) => ended.addEventListener('abort', () => resolve()))
    expect((await ask(url, { ...jobs, token })).status).toBe(401)
  })

  test('to read does not submit, and one to operate does not rebuild', async () => {
    const { url, token } = await serverBench()
    const [read, operate] = [await token('read'), await token('operate')]
    expect((await ask(url, { ...submit, token: read })).json).toMatchObject({ status: 403, code: 'forbidden' })
    expect((await ask(url, { ...submit, token: operate })).status).toBe(201)
    const rebuild = { method: 'POST', path: '/v1/projections/jobList/rebuild' }
    expect((await ask(url, { ...rebuild, token: operate })).json).toMatchObject({ status: 403, code: 'forbidden' })
  })

  test('is no part of an address', async () => {
    const { url, token } = await serverBench()
    const given = await token('read')
    expect((await ask(url, { path: `/v1/jobs?token=${given}` })).status).toBe(401)
  })

  test('OX-13: stands in no answer, no event and no log line', async () => {
    const { url, token, faults, engine } = await serverBench()
    const given = await token('operate')
    const answers = [
      await ask(url, { ...submit, token: given }),
      await ask(url, { path: '/v1/jobs/0123', token: given }),
      await ask(url, { path: `/v1/nothing`, token: given }),
      await ask(url, { ...submit, body: { token: given }, token: given }),
      await ask(url, { path: '/v1/jobs', token: `${given}x` }),
    ]
    const { items } = await engine.list({})
    const events = await engine.events(items[0]?.jobId ?? '')
    const said = JSON.stringify([answers.map(({ text, headers }) => [text, [...headers]]), events, faults])
    expect(said).toContain('unknown field \\\\\\"token')
    expect(said).not.toContain(given)
  })
})

describe('requests over the limit', () => {
  test('of a token are refused until the minute is over, and those of another are not', async () => {
    const { url, token } = await serverBench({ requestsPerMinute: 3 })
    const [one, other] = [await token('read'), await token('read')]
    for (let sent = 0; sent < 3; sent += 1) expect((await ask(url, { ...jobs, token: one })).status).toBe(200)
    const { status, json, headers } = await ask(url, { ...jobs, token: one })
    expect({ status, code: json.code }).toEqual({ status: 429, code: 'rate_limited' })
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ask(url, { ...jobs, token: other })).status).toBe(200)
  })

  test.each(['/v1/jobs', '/v1/nothing'])('of one address that guesses tokens at %s are refused too', async (path) => {
    const { url, token } = await serverBench({ requestsPerMinute: 3 })
    const given = await token('read')
    const guesses = [1, 2, 3, 4].map((nth) => `${noToken}${nth}`)
    const seen = []
    for (const guess of guesses) seen.push((await ask(url, { path, token: guess })).status)
    expect(seen).toEqual([401, 401, 401, 429])
    expect((await ask(url, { ...jobs, token: given })).status).toBe(200)
  })
})

describe('a browser', () => {
  const signedIn = async () => {
    const bench = await serverBench()
    const answer = await ask(bench.url, { method: 'POST', path: '/v1/session', body: { token: await bench.token('operate') } })
    const set = answer.headers.get('set-cookie') ?? ''
    return { ...bench, answer, set, cookie: set.split(';')[0] ?? '' }
  }

  test('gets a cookie for its token that no script reads and no other page sends', async () => {
    const { answer, set } = await signedIn()
    expect(answer.json).toEqual({ name: 'operate-1', role: 'operate', projects: null })
    expect(set).toMatch(/; HttpOnly; SameSite=Strict; Path=\/$/)
  })

  test('looks with its cookie', async () => {
    const { url, cookie } = await signedIn()
    expect((await ask(url, { ...jobs, headers: { cookie: `other=1; ${cookie}` } })).status).toBe(200)
  })

  test('changes something from a page of the server alone', async () => {
    const { url, cookie, engine } = await signedIn()
    const from = (headers: Readonly<Record<string, string>>) => ask(url, { ...submit, headers: { 'content-type': 'application/json', cookie, ...headers } })
    expect((await from({})).json).toMatchObject({ status: 403, code: 'foreign_origin' })
    expect((await from({ origin: 'http://evil.example' })).json).toMatchObject({ status: 403, code: 'foreign_origin' })
    expect((await from({ origin: 'null' })).json).toMatchObject({ status: 403, code: 'foreign_origin' })
    expect((await engine.list({})).items).toEqual([])
    expect((await from({ origin: url })).status).toBe(201)
  })

  test('is signed out', async () => {
    const { url, cookie } = await signedIn()
    const out = await ask(url, { method: 'DELETE', path: '/v1/session', headers: { cookie, origin: url } })
    expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringMatching(/^knovaryn_session=; .*Max-Age=0/)])
  })

  test('is told not to guess types, not to frame, and not to send where it came from', async () => {
    const { url } = await serverBench()
    const { headers } = await ask(url, jobs)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-security-policy': "default-src 'none';frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    })
    expect(headers.get('access-control-allow-origin')).toBeNull()
  })
})
