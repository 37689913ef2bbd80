import { describe, expect, test } from 'vitest'
import { StoreUnavailable } from '../../../domain/errors.ts'
import { serverOf } from '../../../server/serve.ts'
import { ask } from '../../support/asking.ts'
import { serverBench } from '../../support/serverBench.ts'
import { batch, prompts, routeBench } from './routeCases.ts'

const submit = (over: object = {}, headers: Readonly<Record<string, string>> = {}) => ({
  method: 'POST',
  path: '/v1/jobs',
  body: batch(over),
  headers: { 'content-type': 'application/json', ...headers },
})

describe('submitting', () => {
  test.each([
    ['of the same content', submit()],
    ['with the key in the body', submit({ idempotencyKey: 'k' })],
    ['with the key in a header', submit({}, { 'idempotency-key': 'k' })],
  ])('twenty at a time %s make one job, and one of them made it', async (_, asked) => {
    const { url, engine } = await serverBench()
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(url, asked)))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([...Array<number>(19).fill(200), 201])
    expect(new Set(answers.map(({ json }) => json.jobId)).size).toBe(1)
    expect(answers.map(({ json }) => json['existing']).filter((existing) => existing === false)).toHaveLength(1)
    const { items } = await engine.list({})
    expect(items).toHaveLength(1)
    expect((await engine.events(items[0]?.jobId ?? '')).items).toHaveLength(1)
  })

  test('another content under a key that is taken is refused, and says whose it is', async () => {
    const { url, engine } = await serverBench()
    const { json: job, headers } = await ask(url, submit({}, { 'idempotency-key': 'k' }))
    expect(headers.get('location')).toBe(`/v1/jobs/${job.jobId}`)
    const other = await ask(url, submit({ priority: 7, model: 'offline-small', parameters: { temperature: 1 } }, { 'idempotency-key': 'k' }))
    expect(other.json).toMatchObject({ status: 409, code: 'idempotency_conflict' })
    expect((await engine.list({})).items).toHaveLength(1)
  })

  test('a file by its hash is the same job as the file itself', async () => {
    const { url } = await serverBench()
    const stored = await ask(url, { method: 'POST', path: '/v1/artifacts', raw: prompts, headers: { 'content-type': 'text/plain' } })
    expect([stored.status, stored.json['bytes']]).toEqual([201, prompts.length])
    const files = [{ name: 'prompts.jsonl', sha256: stored.json['sha256'] }]
    const byHash = await ask(url, submit({ files }))
    const inline = await ask(url, submit())
    expect([byHash.status, inline.status, inline.json.jobId]).toEqual([201, 200, byHash.json.jobId])
  })

  test('a file of another project is not there', async () => {
    const { url } = await serverBench()
    const { json } = await ask(url, { method: 'POST', path: '/v1/artifacts?projectId=red', raw: prompts })
    const files = [{ name: 'prompts.jsonl', sha256: json['sha256'] }]
    expect((await ask(url, submit({ files, projectId: 'blue' }))).json).toMatchObject({ status: 400, details: { field: 'files.0' } })
    expect((await ask(url, submit({ files, projectId: 'red' }))).status).toBe(201)
  })

  test('a key may have five hundred characters', async () => {
    const { url } = await serverBench()
    const key = 'k'.repeat(500)
    const { status, json } = await ask(url, submit({}, { 'idempotency-key': key }))
    expect([status, json['idempotencyKey']]).toEqual([201, key])
  })

  test('who submits stands in the history', async () => {
    const { url, token, engine } = await serverBench()
    const { json } = await ask(url, { ...submit(), token: await token('operate') })
    expect((await engine.events(json.jobId)).items[0]).toMatchObject({ meta: { actor: 'token:operate-1' } })
  })
})

describe('a command', () => {
  test('that is repeated by its key takes effect once', async () => {
    const bench = await routeBench()
    const id = await bench.queued()
    const give = (name: string, key: string) => ask(bench.url, { method: 'POST', path: `/v1/jobs/${id}/${name}`, headers: { 'idempotency-key': key } })
    expect((await give('pause', 'one')).json['state']).toBe('paused')
    expect((await give('resume', 'two')).json['state']).toBe('queued')
    expect((await give('pause', 'one')).json['state']).toBe('queued')
    expect((await give('pause', 'three')).json['state']).toBe('paused')
  })

  test('that the state does not allow is refused with the state', async () => {
    const bench = await routeBench()
    const id = await bench.queued()
    const retry = await ask(bench.url, { method: 'POST', path: `/v1/jobs/${id}/retry` })
    expect(retry.json).toMatchObject({ status: 409, code: 'job_state' })
    expect(retry.json.detail).toContain('queued')
  })
})

test('a finished job gives its files by their hashes, and its records by page', async () => {
  const bench = await routeBench()
  const id = await bench.succeeded()
  const { items: files } = (await ask(bench.url, { path: `/v1/jobs/${id}/output` })).json
  expect(files).toMatchObject([{ path: 'results.jsonl' }])
  const file = await ask(bench.url, { path: `/v1/artifacts/${files[0]?.['sha256'] as string}` })
  expect(file.headers.get('content-type')).toBe('application/octet-stream')
  expect(JSON.parse(file.text)).toMatchObject({ id: 'q', text: expect.any(String) })

  const seen: number[] = []
  for (let after: string | null = ''; after !== null; ) {
    const { json } = await ask(bench.url, { path: `/v1/jobs/${id}/events?limit=3${after === '' ? '' : `&afterRevision=${after}`}` })
    seen.push(...json.items.map(({ revision }) => revision))
    after = json.nextCursor
  }
  expect(seen).toEqual(Array.from({ length: seen.length }, (_, revision) => revision))
  expect(seen.length).toBeGreaterThan(6)

  const { items: recorded } = (await ask(bench.url, { path: `/v1/jobs/${id}/checkpoints` })).json
  expect(recorded.filter(({ kind }) => kind === 'stage_completed').map(({ stage }) => stage)).toEqual(['intake', 'generate', 'export'])
  const first = (await ask(bench.url, { path: `/v1/jobs/${id}/checkpoints?limit=1` })).json
  expect(first.items).toEqual(recorded.slice(0, 1))
  const rest = (await ask(bench.url, { path: `/v1/jobs/${id}/checkpoints?afterRevision=${first.nextCursor}` })).json
  expect([...first.items, ...rest.items]).toEqual(recorded)
})

test('O-18: pages show each job once while others are added and change', async () => {
  const { url, engine } = await serverBench()
  const submitted = async (name: string) => (await engine.submit({ ...batchOf(name) })).jobId
  const before = []
  for (let nth = 0; nth < 60; nth += 1) before.push(await submitted(`before-${nth}`))
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json } = await ask(url, { path: `/v1/jobs?limit=7${cursor === '' ? '' : `&cursor=${cursor}`}` })
    seen.push(...json.items.map(({ jobId }) => jobId))
    cursor = json.nextCursor
    await submitted(`after-${seen.length}`)
    await engine.cancel(before[seen.length % before.length] ?? '')
  }
  expect(seen.toSorted()).toEqual(before.toSorted())
})

const batchOf = (idempotencyKey: string) => ({
  type: 'batch',
  files: [{ name: 'prompts.jsonl', content: new TextEncoder().encode(prompts) }],
  provider: { name: 'offline' },
  model: 'offline-small',
  idempotencyKey,
})

describe('what is not the fault of whoever asks', () => {
  /** The server over an engine that lists jobs like this. */
  const listing = async (list: () => Promise<never>) => {
    const { workplace } = await serverBench()
    const faults: string[] = []
    const engineFor = () => ({ ...workplace.engine, list })
    const server = await serverOf({ ...workplace, engineFor }, { fault: (_, error) => void faults.push(String(error)) })
    const url = await server.listen({ host: '127.0.0.1', port: 0 })
    const answer = await ask(url, { path: '/v1/jobs' })
    await server.close(0)
    return { answer, faults }
  }

  test('a store that is away is said to be so, without its place, and when to ask again', async () => {
    const { answer } = await listing(async () => {
      throw new StoreUnavailable('the disk of /srv/secret/.knovaryn is full', { path: '/srv/secret' })
    })
    expect(answer.json).toMatchObject({ status: 503, code: 'store_unavailable', details: {} })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(answer.text).not.toContain('secret')
  })

  test('a bug is told to the log alone', async () => {
    const { answer, faults } = await listing(async () => {
      throw new TypeError('cannot read sk-TESTSECRET123 of undefined')
    })
    expect(answer.json).toEqual({
      type: 'urn:knovaryn:problem:internal',
      title: 'Something went wrong here',
      status: 500,
      detail: 'Something went wrong here',
      code: 'internal',
      details: {},
    })
    expect(faults).toEqual(['TypeError: cannot read sk-TESTSECRET123 of undefined'])
  })

  test('an answer that does not fit its own description is not sent', async () => {
    const { answer, faults } = await listing(async () => ({ items: [{ jobId: 'secret' }], nextCursor: null }) as never)
    expect([answer.status, answer.text.includes('secret')]).toEqual([500, false])
    expect(faults).toHaveLength(1)
  })
})
