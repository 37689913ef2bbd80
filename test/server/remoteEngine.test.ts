import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { EngineError, ForbiddenError, InvalidInputError, JobStateError, StoreUnavailable } from '../../domain/errors.ts'
import type { Submission } from '../../server/engine.ts'
import { remoteEngine } from '../../server/remoteEngine.ts'
import { promptLines } from '../support/cliInProcess.ts'
import { serverBench } from '../support/serverBench.ts'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

const submission = (over: Partial<Submission> = {}): Submission => ({
  type: 'batch',
  files: [{ name: 'p.jsonl', content: new TextEncoder().encode(promptLines(2)) }],
  provider: { name: 'offline' },
  model: 'offline-small',
  ...over,
})

/** A server that answers as told, and every request that it got. */
const scripted = async (...handlers: readonly Handler[]) => {
  const requests: { readonly method: string; readonly url: string; readonly headers: IncomingMessage['headers'] }[] = []
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request
    const handler = handlers[requests.length] ?? handlers.at(-1)
    requests.push({ method, url, headers })
    request.resume().on('end', () => handler?.(request, response))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const waits: number[] = []
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const engine = remoteEngine({ url, token: 'secret-token', sleep: async (ms) => void waits.push(ms) })
  return { url, engine, requests, waits }
}

const addressOf = (input: Parameters<typeof fetch>[0]): string => (typeof input === 'string' ? input : 'not as text')

const cut: Handler = (_, response) => response.destroy()
const answer =
  (status: number, body: object | string, headers: Readonly<Record<string, string>> = {}): Handler =>
  (_, response) =>
    response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body))
const problem = (status: number, code: string, headers: Readonly<Record<string, string>> = {}): Handler =>
  answer(status, { type: 'urn:x', title: 'T', status, detail: `because of ${code}`, code, details: { a: 1 } }, headers)
const noViews = answer(200, { items: [] })

test('asks again where no answer came, after waits that double, and gives up in the end', async () => {
  const { engine, requests, waits } = await scripted(cut, cut, noViews)
  expect(await engine.projections()).toEqual([])
  expect([requests.length, waits]).toEqual([3, [250, 500]])
  const away = await scripted(cut)
  await expect(away.engine.projections()).rejects.toThrow(/^the server at http:\/\/127.0.0.1:\d+ does not answer/)
  await expect(away.engine.projections()).rejects.toBeInstanceOf(StoreUnavailable)
  expect(away.waits.slice(0, 4)).toEqual([250, 500, 1_000, 2_000])
})

test('waits as long as a busy server says, and not for one that says an hour', async () => {
  const { engine, waits } = await scripted(problem(503, 'closing', { 'retry-after': '7' }), problem(429, 'rate_limited', { 'retry-after': '3' }), noViews)
  expect(await engine.projections()).toEqual([])
  expect(waits).toEqual([7_000, 3_000])
  const slow = await scripted(problem(429, 'rate_limited', { 'retry-after': '3600' }))
  await expect(slow.engine.projections()).rejects.toMatchObject({ code: 'rate_limited' })
  expect(slow.waits).toEqual([])
})

test('makes one job of a submit whose answer was lost, and gives a command once', async () => {
  const { url, engine: local } = await serverBench()
  let lost = 0
  const losing: typeof fetch = async (...asked) => {
    const answered = await fetch(...asked)
    lost += 1
    if (lost % 2 === 1) throw new TypeError('fetch failed')
    return answered
  }
  const engine = remoteEngine({ url, token: null, fetch: losing, sleep: async () => {} })
  const { jobId } = await engine.submit(submission())
  expect((await local.list({})).items.map((job) => job.jobId)).toEqual([jobId])
  expect(await engine.pause(jobId)).toMatchObject({ state: 'paused' })
  expect((await local.events(jobId)).items.map(({ type }) => type)).toEqual(['JobSubmitted', 'PauseRequested', 'JobPaused'])
  expect(lost).toBe(4)
})

test('repeats a command under the same key, and gives each command a key of its own', async () => {
  const { engine, requests } = await scripted(cut, problem(409, 'job_state'))
  await expect(engine.pause('abc')).rejects.toBeInstanceOf(JobStateError)
  const [first, second] = requests.map(({ headers }) => headers['idempotency-key'])
  expect(first).toMatch(/^[0-9a-f-]{36}$/)
  expect(second).toBe(first)
  await expect(engine.pause('abc')).rejects.toBeInstanceOf(JobStateError)
  expect(requests[2]?.headers['idempotency-key']).not.toBe(first)
})

test('never repeats what is not known to be safe', async () => {
  const view = { name: 'jobs', version: 1, position: null, head: '', upToDate: true, documents: 0, served: { version: 1, stale: false } }
  const { engine, requests, waits } = await scripted(answer(200, { items: [view] }), cut)
  await expect(engine.rebuild(['jobs'])).rejects.toBeInstanceOf(StoreUnavailable)
  expect(requests.map(({ method, url }) => `${method} ${url}`)).toEqual(['GET /v1/projections', 'POST /v1/projections/jobs/rebuild'])
  expect(waits).toEqual([])
})

test('does not ask again who is still at it', async () => {
  const requests: string[] = []
  const slow: typeof fetch = async (input) => {
    requests.push(addressOf(input))
    throw new TypeError('fetch failed', { cause: Object.assign(new Error('Headers Timeout Error'), { code: 'UND_ERR_HEADERS_TIMEOUT' }) })
  }
  const engine = remoteEngine({ url: 'http://127.0.0.1:1', token: null, fetch: slow, sleep: async () => {} })
  await expect(engine.verifyLog()).rejects.toThrow('does not answer (UND_ERR_HEADERS_TIMEOUT)')
  expect(requests).toEqual(['http://127.0.0.1:1/v1/log/verify'])
})

test('follows no redirect, so that the token reaches no other server', async () => {
  const elsewhere = await scripted(noViews)
  const { engine, requests } = await scripted(answer(307, '', { location: `${elsewhere.url}/v1/projections` }))
  await expect(engine.projections()).rejects.toThrow(`redirects to ${elsewhere.url}, which is not followed`)
  await expect(engine.submit(submission())).rejects.toBeInstanceOf(InvalidInputError)
  expect(requests.every(({ headers }) => headers.authorization === 'Bearer secret-token')).toBe(true)
  expect(elsewhere.requests).toEqual([])
})

test.each(['a b', 'a\r\nx-evil: 1', 'ä', '', 'x'.repeat(501)])('refuses the token %j, and does not repeat it', (token) => {
  const made = (): unknown => remoteEngine({ url: 'http://127.0.0.1:1', token })
  expect(made).toThrow(InvalidInputError)
  if (token !== '') expect(made).not.toThrow(token)
})

test.each(['', 'knovaryn', 'ftp://x', 'http://u:p@x', 'http://x?a=1', 'file:///etc'])('refuses the address %j', (url) => {
  expect(() => remoteEngine({ url, token: null })).toThrow(/must be http:\/\/ or https:\/\//)
})

test.each<[string, Handler, object]>([
  ['what is no problem', answer(404, '<html>'), { code: 'internal', message: 'GET /v1/jobs/abc was answered with status 404 and no problem: is this a knovaryn server?' }],
  ['a fault', problem(500, 'internal'), { code: 'internal', message: expect.stringContaining('its own log says why') }],
  ['a problem of a kind that is not known', problem(418, 'teapot'), { code: 'internal', details: { status: 418, code: 'teapot' } }],
  ['a rule of a single job type', problem(400, 'no_chunk'), { name: 'InvalidInputError', code: 'no_chunk', details: { a: 1 } }],
  ['no JSON', answer(200, 'OK'), { code: 'internal', message: expect.stringContaining('another version') }],
  ['another shape', answer(200, { jobId: 3 }), { code: 'internal', message: expect.stringContaining('jobId') }],
])('tells %s by what it is', async (_, handler, expected) => {
  const { engine, waits } = await scripted(handler)
  const refused = await engine.status('abc').catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(EngineError)
  expect(refused).toMatchObject(expected)
  expect(waits).toEqual([])
})

test('sends no address of a provider: which there are is for the server to know', async () => {
  const { engine, requests } = await scripted(noViews)
  const asked = engine.submit(submission({ provider: { name: 'openai', baseUrl: 'http://127.0.0.1:9' } }))
  await expect(asked).rejects.toMatchObject({ name: 'ForbiddenError', code: 'forbidden_base_url' })
  expect(requests).toEqual([])
})

test('sends a large file once, and small ones with the submission itself', async () => {
  const { url } = await serverBench()
  const asked: string[] = []
  const heard: typeof fetch = async (input, init) => {
    asked.push(`${init?.method} ${new URL(addressOf(input)).pathname}`)
    return fetch(input, init)
  }
  const engine = remoteEngine({ url, token: null, fetch: heard })
  const small = submission()
  await engine.find(small)
  await engine.submit(small)
  expect(asked.splice(0)).toEqual(['POST /v1/jobs/find', 'POST /v1/jobs'])
  const large = submission({ files: [{ name: 'p.jsonl', content: new TextEncoder().encode(promptLines(20_000)) }] })
  await engine.find(large)
  await engine.submit({ ...large, estimatedCostUsd: null })
  expect(asked).toEqual(['POST /v1/artifacts', 'POST /v1/jobs/find', 'POST /v1/jobs'])
})

test('does only what its token allows', async () => {
  const { url, engine, token } = await serverBench()
  const { jobId } = await engine.submit(submission({ projectId: 'red' }))
  const blue = remoteEngine({ url, token: await token('operate', ['blue']) })
  await expect(blue.status(jobId)).rejects.toMatchObject({ name: 'JobStateError', code: 'job_not_found' })
  await expect(blue.submit(submission({ projectId: 'red' }))).rejects.toBeInstanceOf(ForbiddenError)
  await expect(blue.verifyLog()).rejects.toMatchObject({ name: 'ForbiddenError', code: 'forbidden' })
  const nobody = remoteEngine({ url, token: 'made-up' })
  await expect(nobody.status(jobId)).rejects.toMatchObject({ code: 'unauthenticated' })
})
