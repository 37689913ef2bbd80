import { afterEach, expect, test } from 'vitest'
import { batchFolder } from '../support/batchFiles.ts'
import { ask } from '../support/asking.ts'
import { killAll, startKnovaryn } from '../support/processes.ts'
import { told } from '../support/told.ts'
import { until } from '../support/until.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await killAll()
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

const batch = {
  type: 'batch',
  files: [{ name: 'prompts.jsonl', text: '{ "id": "q", "prompt": "Why?" }\n' }],
  provider: { name: 'offline' },
  model: 'offline-small',
}

/** The program as a process of its own, on a store of its own, with its address. */
const serving = async (...args: readonly string[]) => {
  const folder = await batchFolder('')
  cleanups.push(folder.remove)
  const server = startKnovaryn(['server', '--port', '0', '--json', ...args, ...folder.store])
  const { url } = JSON.parse(await server.line(/^\{"url"/)) as { url: string }
  return { server, url, folder }
}

test('a server works what it is given, and drains on SIGTERM', async () => {
  const { server, url } = await serving()
  const { status, json: job } = await ask(url, { method: 'POST', path: '/v1/jobs', body: batch })
  expect(status).toBe(201)
  const jobAt = async () => (await ask(url, { path: `/v1/jobs/${job.jobId}` })).json
  await until('the job to be done', async () => (await jobAt())['state'] === 'succeeded')
  expect((await ask(url, { path: `/v1/jobs/${job.jobId}/audit` })).json['findings']).toEqual([])
  server.signal('SIGTERM')
  expect(await server.exited).toEqual({ code: 0, signal: null })
  expect(server.stdout()).toBe(`${JSON.stringify({ url })}\n`)
})

test('two servers on one store are one: what one is given the other knows, and the tokens of one keep the other shut', async () => {
  const { url, folder } = await serving('--workers', '0')
  const second = startKnovaryn(['server', '--port', '0', '--json', '--workers', '0', ...folder.store])
  const other = (JSON.parse(await second.line(/^\{"url"/)) as { url: string }).url
  const [one, two] = await Promise.all([url, other].map((each) => ask(each, { method: 'POST', path: '/v1/jobs', body: batch })))
  expect(new Set([one?.status, two?.status])).toEqual(new Set([200, 201]))
  expect((await ask(other, { path: '/v1/jobs' })).json.items).toHaveLength(1)

  const made = startKnovaryn(['token', 'create', '--name', 'ann', '--role', 'read', '--json', ...folder.store])
  expect((await made.exited).code).toBe(0)
  for (const each of [url, other]) {
    await until('the server to ask for a token', async () => (await ask(each, { path: '/v1/jobs' })).status === 401)
  }
})

test('O-30: a name that somebody pointed at this machine opens nothing', async () => {
  const { url } = await serving('--workers', '0')
  expect(await told(url, 'GET /v1/jobs HTTP/1.1\r\nHost: rebound.example\r\nConnection: close\r\n\r\n')).toMatch(/^HTTP\/1\.1 403 /)
})
