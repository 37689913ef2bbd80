import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { type Ask, ask } from '../../support/asking.ts'
import { serverBench } from '../../support/serverBench.ts'
import { told } from '../../support/told.ts'
import { until } from '../../support/until.ts'
import { batch } from './routeCases.ts'

const mebibyte = 1024 * 1024
const json = { 'content-type': 'application/json' }
const submit = (over: Partial<Ask>): Ask => ({ method: 'POST', path: '/v1/jobs', ...over })
/** A batch with this text in place of its parameters. */
const withParameters = (text: string): Ask => submit({ raw: JSON.stringify(batch({ parameters: 'HERE' })).replace('"HERE"', () => text) })
const deep = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`

/** What is asked, the status, and what the problem must speak of. */
const bodies: readonly (readonly [name: string, ask: Ask, status: number, says: RegExp])[] = [
  ['text that is not JSON', submit({ raw: '{"type":' }), 400, /not JSON/],
  ['nothing', submit({ raw: '', headers: json }), 400, /body: must be of type object, not null/],
  ['a list', submit({ body: [batch()] }), 400, /body: must be of type object, not array/],
  ['a body of another type', submit({ raw: 'type=batch', headers: { 'content-type': 'application/x-www-form-urlencoded' } }), 415, /./],
  ['bytes that are no UTF-8', submit({ raw: Buffer.from([0x22, 0xff, 0xfe, 0x22]) }), 400, /not UTF-8/],
  ['a key twice in one object', submit({ raw: '{"type":"batch","type":"dataset"}' }), 400, /"type" stands twice/],
  ['a prototype', submit({ raw: '{"type":"batch","__proto__":{"role":"admin"}}' }), 400, /__proto__/],
  ['a prototype deep inside', withParameters('{"a":{"__proto__":{"role":"admin"}}}'), 400, /\$\.parameters\.a\.__proto__/],
  ['an integer that no number holds', withParameters('{"seed":9007199254740993}'), 400, /9007199254740993/],
  ['a number out of range', withParameters('{"seed":1e999}'), 400, /1e999/],
  ['half a surrogate pair', withParameters('{"a":"\\ud83d"}'), 400, /\$\.parameters\.a holds half a surrogate/],
  ['lists in lists beyond all depth', withParameters(deep(100_000)), 400, /deeper than 500/],
  ['more than 4 MiB', withParameters(JSON.stringify({ a: 'x'.repeat(4 * mebibyte) })), 413, /./],
  ['an unknown field', submit({ body: batch({ labells: {} }) }), 400, /unknown field "labells": did you mean "labels"\?/],
  ['an unknown field inside', submit({ body: batch({ limits: { maximumCost: '1' } }) }), 400, /"limits\.maximumCost": did you mean "maximumCostUsd"/],
  ['an unknown field in a list', submit({ body: batch({ files: [{ name: 'a', texts: '' }] }) }), 400, /"files\.0\.texts": did you mean "text"/],
  ['an address of a provider', submit({ body: batch({ provider: { name: 'offline', baseUrl: 'http://evil.example' } }) }), 400, /"provider\.baseUrl"/],
  ['a provider that is not configured', submit({ body: batch({ provider: { name: 'elsewhere' } }) }), 403, /"elsewhere" is not configured/],
  ['a number for a name', submit({ body: batch({ model: 7 }) }), 400, /"model" must be of type string, not number/],
  ['a text for a number', submit({ body: batch({ concurrency: '4' }) }), 400, /"concurrency" must be of type number, not string/],
  ['a number for an amount', submit({ body: batch({ limits: { maximumCostUsd: 1.5 } }) }), 400, /"limits\.maximumCostUsd" must be of type string/],
  ['an amount that is none', submit({ body: batch({ limits: { maximumCostUsd: '1e3' } }) }), 400, /maximumCostUsd "1e3" must be US dollars/],
  ['a negative limit', submit({ body: batch({ limits: { maximumCalls: -1 } }) }), 400, /"limits\.maximumCalls"/],
  ['an instant without an offset', submit({ body: batch({ startAfter: '2026-01-01T08:00:00' }) }), 400, /"startAfter"/],
  ['an unknown choice', submit({ body: batch({ onUnknown: 'ask' }) }), 400, /"onUnknown" must be one of "resend"\|"pause"/],
  ['a file with neither bytes nor hash', submit({ body: batch({ files: [{ name: 'a' }] }) }), 400, /"files\.0" needs either "sha256"/],
  ['a file that was never stored', submit({ body: batch({ files: [{ name: 'a', sha256: 'a'.repeat(64) }] }) }), 400, /"files\.0" names a{64}, which is no file/],
  ['a hash that is a path', submit({ body: batch({ files: [{ name: 'a', sha256: '../../secret' }] }) }), 400, /"files\.0\.sha256"/],
  ['a job type that is not there', submit({ body: batch({ type: 'bacth' }) }), 400, /no job type "bacth": did you mean "batch"/],
  ['a label of a thousand characters', submit({ body: batch({ labels: { a: 'x'.repeat(1_000) } }) }), 400, /"labels\.a"/],
  ['two keys', submit({ body: batch({ idempotencyKey: 'one' }), headers: { 'idempotency-key': 'two' } }), 400, /two keys/],
  ['a key beyond its length', submit({ body: batch(), headers: { 'idempotency-key': 'k'.repeat(501) } }), 400, /headers: "idempotency-key"/],
  ['a key that is not printable', submit({ body: batch(), headers: { 'idempotency-key': 'k\u00e9y' } }), 400, /headers: "idempotency-key" must be printable/],
]

test.each(bodies)('a submission with %s is refused in words that name it, and nothing is written', async (_, asked, status, says) => {
  const { url, engine, faults } = await serverBench()
  const answer = await ask(url, asked)
  expect({ status: answer.status, detail: answer.json.detail }).toEqual({ status, detail: expect.stringMatching(says) })
  expect(answer.text).not.toMatch(/node_modules|\.ts:\d|\bat \w+ \(/)
  expect((await engine.list({})).items).toEqual([])
  expect(faults).toEqual([])
})

const places: readonly string[] = [
  '/v1/artifacts/..%2f..%2f..%2fetc%2fpasswd',
  '/v1/artifacts/%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '/v1/artifacts/%252e%252e%252fetc%252fpasswd',
  '/v1/artifacts/..%5c..%5cwindows',
  '/v1/artifacts/file:%2f%2f%2fetc%2fpasswd',
  '/v1/artifacts/C:%5cwindows',
  '/v1/artifacts/%00',
  '/v1/artifacts/%23',
  `/v1/artifacts/${'a'.repeat(5_000)}`,
  `/v1/artifacts/${'a'.repeat(64)}?projectId=..%2f..%2fetc`,
  `/v1/artifacts/${'a'.repeat(64)}?projectId=%00`,
  '/v1/artifacts/%ff',
  '/v1/artifacts/%',
  '/v1/jobs/%2e%2e',
  '/v1/jobs/%00',
  '/v1/jobs/..%2fjobs',
  '/v1/jobs/%e2%82',
  '/v1//jobs',
  '/v1/nothing',
]

test.each(places)('OX-12: %s leads nowhere', async (path) => {
  const { url, faults } = await serverBench()
  const { status, json: problem, text } = await ask(url, { path })
  expect([400, 404]).toContain(status)
  expect(problem.code).toMatch(/^(invalid_input|artifact_not_found|job_not_found|route_not_found)$/)
  expect(text).not.toMatch(/root:|\/tmp\/|artifacts\/\w\w\//)
  expect(faults).toEqual([])
})

test.each([
  ['limit=', /"limit" must be of type number/],
  ['limit=1e2', /"limit"/],
  ['limit=0x10', /"limit"/],
  ['limit=-1', /"limit"/],
  ['limit=501', /"limit"/],
  ['limit=1&limit=2', /"limit"/],
  ['limt=3', /unknown field "limt": did you mean "limit"/],
  ['__proto__=1', /__proto__/],
  ['label=red', /label "red" is not of the form name=value/],
  ['cursor=made-up', /cursor/],
  [`cursor=${'A'.repeat(5_000)}`, /"cursor"/],
  ['cursor=%ff%fe', /cursor/],
])('a list asked for with %s is refused by name', async (query, says) => {
  const { url, faults } = await serverBench()
  const { status, json: problem } = await ask(url, { path: `/v1/jobs?${query}` })
  expect({ status, detail: problem.detail }).toEqual({ status: 400, detail: expect.stringMatching(says) })
  expect(faults).toEqual([])
})

test('O-13: keys that other programs trip over are kept as they were given', async () => {
  const { url } = await serverBench()
  const parameters = '{"constructor":{"prototype":{"a":1}},"hasOwnProperty":true,"toString":null}'
  const labels = { constructor: 'c', hasOwnProperty: 'h', prototype: 'p' }
  const submitted = await ask(url, submit({ raw: JSON.stringify(batch({ labels, parameters: 'HERE' })).replace('"HERE"', parameters) }))
  // A batch knows its parameters: it is the labels that a caller is free in.
  expect([submitted.status, submitted.json.detail]).toEqual([400, expect.stringContaining('constructor')])
  const { status, json: job } = await ask(url, submit({ body: batch({ labels }) }))
  expect({ status, labels: job['labels'] }).toEqual({ status: 201, labels })
  const { items } = (await ask(url, { path: `/v1/jobs/${job.jobId}/events` })).json
  expect(items[0]).toMatchObject({ data: { labels } })
  expect(Object.keys({})).toEqual([])
})

test.each([
  ['no HTTP', 'hello\r\n\r\n', 400, 'invalid_input'],
  ['headers of 20 KiB', `GET /v1/jobs HTTP/1.1\r\nHost: localhost\r\nX-Large: ${'x'.repeat(20_480)}\r\n\r\n`, 431, 'headers_too_large'],
  ['two lengths', 'POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx', 400, 'invalid_input'],
])('%s is answered with a problem', async (_, text, status, code) => {
  const { url } = await serverBench()
  const heard = await told(url, text)
  expect(heard).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
  expect(heard).toContain('Content-Type: application/problem+json')
  expect(JSON.parse(heard.slice(heard.indexOf('\r\n\r\n')))).toMatchObject({ status, code })
})

test('a body without a length is cut off at the limit', async () => {
  const { url } = await serverBench()
  const chunk = `${(mebibyte).toString(16)}\r\n${'x'.repeat(mebibyte)}\r\n`
  const heard = await told(
    url,
    `POST /v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`,
  )
  expect(heard).toMatch(/^HTTP\/1\.1 413 /)
})

test('a file over the limit is refused before its bytes are read', async () => {
  const { url } = await serverBench()
  const heard = await told(
    url,
    `POST /v1/artifacts HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${257 * mebibyte}\r\n\r\n`,
  )
  expect(heard).toMatch(/^HTTP\/1\.1 413 /)
})

test('files are received within the memory that there is for them, and the next is taken once one is through', async () => {
  const { url } = await serverBench()
  const { port, hostname } = new URL(url)
  const begun = await Promise.all(
    [1, 2].map(async () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      socket.write(`POST /v1/artifacts HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${256 * mebibyte}\r\nExpect: 100-continue\r\n\r\n`)
      await new Promise<void>((resolve) => socket.once('data', () => resolve()))
      return socket
    }),
  )
  const file = { method: 'POST', path: '/v1/artifacts', raw: 'small' }
  const refused = await ask(url, file)
  expect(refused.json).toMatchObject({ status: 503, code: 'busy' })
  expect(refused.headers.get('retry-after')).toBe('5')
  begun[0]?.destroy()
  await until('the file to be taken', async () => (await ask(url, file)).status === 201)
  begun[1]?.destroy()
})

test('a token to read sends no byte of a file', async () => {
  const { url, token } = await serverBench()
  const heard = await told(
    url,
    `POST /v1/artifacts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${await token('read')}\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n`,
  )
  expect(heard).toMatch(/^HTTP\/1\.1 403 .*"code":"forbidden"/s)
})
