import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { EngineError, IdempotencyConflictError, InvalidInputError } from '../../domain/errors.ts'
import { zeroUsd } from '../../domain/money.ts'
import { defineJob, type JobDefinition } from '../../server/defineJob.ts'
import type { Engine, LiveFrame, LiveQuery, Submission, Workplace } from '../../server/engine.ts'
import { tenCentsAtWorst } from '../support/batchFiles.ts'
import { promptLines } from '../support/cliInProcess.ts'

type Surroundings = { readonly definitions?: readonly JobDefinition[]; readonly providers?: Readonly<Record<string, object>> }

/** The engine under test, and the place that it is the engine of: closed when the test is over. */
export type OpenEngine = (surroundings?: Surroundings) => Promise<{ readonly engine: Engine; readonly place: Workplace }>

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const batch = (over: Partial<Submission> = {}): Submission => ({
  projectId: 'default',
  type: 'batch',
  files: [{ name: 'prompts.jsonl', content: bytes(promptLines(3)) }],
  provider: { name: 'offline' },
  model: 'offline-small',
  ...over,
})

/** Takes whatever files there are, and fails at once. */
const failing = defineJob({
  type: 'failing',
  version: 1,
  input: z.unknown(),
  inspect: (files) => ({ input: files.map(({ file, ref }) => [file.name, ref.sha256]), calls: [] }),
  stages: [
    {
      name: 'only',
      run: async () => {
        throw new TypeError('it cannot be done')
      },
    },
  ],
})

/** Takes every request and hangs up: whether it was billed nobody knows. */
const cuttingProvider = async (): Promise<string> => {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

/** What was raised, as whoever catches it can tell it from another. */
const refusal = async (work: Promise<unknown> | AsyncIterable<unknown>): Promise<object> => {
  try {
    await (work instanceof Promise ? work : eachOf(work))
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return { is: error.name, code: error.code, message: error.message, details: error.details }
  }
  throw new Error('nothing was refused')
}

const eachOf = async <Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> => {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

const until = (): AbortSignal => new AbortController().signal

/** What is promised of an engine, wherever its log is. */
export const engineContract = (name: string, open: OpenEngine): void => {
  const opened = (surroundings: Surroundings = {}) => open({ definitions: [failing], ...surroundings })

  describe(`${name} as an engine: submitting`, () => {
    test('makes a job once: the same again is the job that is there', async () => {
      const { engine } = await opened()
      const made = await engine.submit(batch({ labels: { a: '1' }, priority: -3, target: 2 }))
      expect(made).toMatchObject({ state: 'queued', existing: false, labels: { a: '1' }, priority: -3 })
      const again = await engine.submit(batch({ labels: { a: '1' }, priority: -3, target: 2 }))
      expect(again).toEqual({ ...made, existing: true })
    })

    test('makes one job of many submits at the same time', async () => {
      const { engine } = await opened()
      const jobs = await Promise.all(Array.from({ length: 8 }, () => engine.submit(batch({ idempotencyKey: 'one' }))))
      expect(new Set(jobs.map(({ jobId }) => jobId)).size).toBe(1)
      expect(jobs.filter(({ existing }) => !existing)).toHaveLength(1)
    })

    test('refuses a known key with another content', async () => {
      const { engine, place } = await opened()
      const { jobId } = await engine.submit(batch({ idempotencyKey: 'mine' }))
      const other = batch({ idempotencyKey: 'mine', parameters: { maxOutputTokens: 64 } })
      await expect(engine.submit(other)).rejects.toBeInstanceOf(IdempotencyConflictError)
      expect(await refusal(engine.submit(other))).toEqual(await refusal(place.engine.submit(other)))
      expect(await engine.status(jobId)).toMatchObject({ revision: 0 })
    })

    test.each([
      ['with a byte order mark and both kinds of line ends', bytes('\uFEFFa\r\nb\n\r\u2028')],
      ['that is no text', Uint8Array.from({ length: 256 }, (_, at) => at)],
      ['over a megabyte', bytes('ä\u0000"'.repeat(300_000))],
      ['that is empty', new Uint8Array()],
    ])('keeps every byte of a file %s', async (_, content) => {
      const { engine, place } = await opened()
      const files = [{ name: 'ä "b"/c.txt', content }, { name: 'second', content: bytes('x') }]
      const { jobId } = await engine.submit({ type: 'failing', files, provider: null })
      expect(await place.engine.submit({ type: 'failing', files, provider: null })).toMatchObject({ jobId, existing: true })
    })

    test('finds a job by what it was submitted as, and writes nothing', async () => {
      const { engine } = await opened()
      expect(await engine.find(batch())).toBeNull()
      expect((await engine.list({})).items).toEqual([])
      const { jobId } = await engine.submit(batch())
      expect(await engine.find(batch())).toMatchObject({ jobId, existing: true })
    })

    test.each<[string, Partial<Submission>]>([
      ['an unknown job type', { type: 'bach' }],
      ['a model without a price', { model: 'offline-huge' }],
      ['a parameter of a wrong type', { parameters: { maxOutputTokens: 'many' } }],
      ['a file that is no batch', { files: [{ name: 'p.jsonl', content: bytes('{"id":') }] }],
      ['a file with the same id twice', { files: [{ name: 'p.jsonl', content: bytes('{"id":"a","prompt":"b"}\n{"id":"a","prompt":"b"}') }] }],
      ['a limit below zero', { limits: { maximumCostUsd: '-1' } }],
    ])('refuses %s, and writes nothing', async (_, over) => {
      const { engine, place } = await opened()
      await expect(engine.submit(batch(over))).rejects.toBeInstanceOf(InvalidInputError)
      expect(await refusal(engine.submit(batch(over)))).toEqual(await refusal(place.engine.submit(batch(over))))
      expect(await refusal(engine.estimate(batch(over)))).toEqual(await refusal(place.engine.estimate(batch(over))))
      expect((await engine.list({})).items).toEqual([])
    })

    test('estimates what a job takes, and writes nothing', async () => {
      const { engine, place } = await opened()
      const estimate = await engine.estimate(batch())
      expect(estimate).toMatchObject({ existing: false, type: 'batch', total: { calls: 3 } })
      expect(estimate).toEqual(await place.engine.estimate(batch()))
      expect((await engine.list({})).items).toEqual([])
    })
  })

  describe(`${name} as an engine: looking`, () => {
    const asked: readonly (readonly [verb: string, ask: (engine: Engine, handle: string) => Promise<unknown> | AsyncIterable<unknown>])[] = [
      ['status', (engine, handle) => engine.status(handle)],
      ['events', (engine, handle) => engine.events(handle)],
      ['ledger', (engine, handle) => engine.ledger(handle)],
      ['audit', (engine, handle) => engine.audit(handle)],
      ['outputFiles', (engine, handle) => engine.outputFiles(handle)],
      ['output', (engine, handle) => engine.output(handle)],
      ['follow', (engine, handle) => engine.follow(handle, until())],
      ['resolve', (engine, handle) => engine.resolve(handle)],
      ['pause', (engine, handle) => engine.pause(handle)],
      ['resume', (engine, handle) => engine.resume(handle, { maximumCalls: 1 })],
      ['cancel', (engine, handle) => engine.cancel(handle)],
      ['retry', (engine, handle) => engine.retry(handle)],
      ['raiseBudget', (engine, handle) => engine.raiseBudget(handle, { maximumCalls: 1 })],
      ['reconcile', (engine, handle) => engine.reconcile(handle, { call: 1, billed: false })],
    ]

    test.each(asked)('%s knows no job by a handle that is none', async (_, ask) => {
      const { engine } = await opened()
      for (const handle of ['', '.', '..', '../jobs', '%2e%2e', 'a/b', '?', 'é', '\u0000', '\ud800', 'x'.repeat(5_000), '0'.repeat(32)]) {
        const expected = { is: 'JobStateError', code: 'job_not_found', details: { handle, nearest: [] } }
        expect(await refusal(ask(engine, handle))).toMatchObject(expected)
      }
    })

    test('takes a prefix that only one job has, and names the jobs that a shorter one could mean', async () => {
      const { engine, place } = await opened()
      for (let nth = 0; nth < 17; nth += 1) await engine.submit(batch({ idempotencyKey: `${nth}` }))
      const { items } = await engine.list({})
      const first = items.map(({ jobId }) => jobId[0] ?? '')
      const shared = first.find((digit, at) => first.indexOf(digit) !== at) ?? ''
      expect(await refusal(engine.status(shared))).toEqual(await refusal(place.engine.status(shared)))
      expect(await refusal(engine.status(shared))).toMatchObject({ is: 'JobStateError', code: 'ambiguous_handle' })
      for (const { jobId } of items) expect(await engine.resolve(jobId.slice(0, 12))).toBe(jobId)
    })

    test('shows a job of another project to nobody who asks within one', async () => {
      const { engine } = await opened()
      const { jobId } = await engine.submit(batch({ projectId: 'red' }))
      expect(await engine.resolve(jobId, ['red', 'blue'])).toBe(jobId)
      expect(await refusal(engine.resolve(jobId, ['blue']))).toMatchObject({ is: 'JobStateError', code: 'job_not_found' })
    })

    test('lists each job once, page by page, newest first', async () => {
      const { engine, place } = await opened()
      for (let nth = 0; nth < 7; nth += 1) await engine.submit(batch({ idempotencyKey: `${nth}` }))
      const seen = []
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await engine.list({ limit: 3, ...(cursor === undefined ? {} : { cursor }) })
        seen.push(...page.items)
        cursor = page.nextCursor
      }
      expect(seen.map(({ idempotencyKey }) => idempotencyKey).toSorted()).toEqual(['0', '1', '2', '3', '4', '5', '6'])
      expect(seen).toEqual((await place.engine.list({})).items)
    })

    test('lists by project, state, type and label alone or together', async () => {
      const { engine } = await opened()
      const red = await engine.submit(batch({ projectId: 'red', labels: { 'a b': 'c=d' } }))
      const blue = await engine.submit(batch({ projectId: 'blue & co' }))
      await engine.pause(blue.jobId)
      const listed = async (query: Parameters<Engine['list']>[0]) => (await engine.list(query)).items.map(({ jobId }) => jobId)
      expect(await listed({ projectId: 'blue & co' })).toEqual([blue.jobId])
      expect(await listed({ state: 'queued' })).toEqual([red.jobId])
      expect(await listed({ label: 'a b=c=d' })).toEqual([red.jobId])
      expect(await listed({ projectId: 'red', type: 'batch', state: 'queued', label: 'a b=c=d' })).toEqual([red.jobId])
      expect(await listed({ type: 'dataset' })).toEqual([])
      expect(await listed({ projectIds: ['red'] })).toEqual([red.jobId])
    })

    test.each([{ limit: 0 }, { limit: 501 }, { limit: 1.5 }, { cursor: 'x' }])('refuses to list with %j', async (query) => {
      const { engine } = await opened()
      expect(await refusal(engine.list(query))).toMatchObject({ is: 'InvalidInputError', code: 'invalid_input' })
    })

    test('tells the events of a job in order of revision, as they are in the log', async () => {
      const { engine, place } = await opened()
      const { jobId } = await engine.submit(batch())
      await place.work({ once: true })
      const all = await place.engine.events(jobId, { limit: 1_000 })
      expect(all.items.length).toBeGreaterThan(10)
      expect(await engine.events(jobId, { limit: 1_000 })).toEqual(all)
      const first = await engine.events(jobId, { afterRevision: -1, limit: 4 })
      expect(first).toEqual({ items: all.items.slice(0, 4), nextCursor: '3' })
      expect(await engine.events(jobId, { afterRevision: 3, limit: 1_000 })).toEqual({ items: all.items.slice(4), nextCursor: null })
      expect(await refusal(engine.events(jobId, { limit: 0 }))).toMatchObject({ is: 'InvalidInputError', code: 'invalid_input' })
    })

    test('tells the ledger, the audit and the results of a job that was worked', async () => {
      const { engine, place } = await opened()
      const { jobId } = await engine.submit(batch())
      await place.work({ once: true })
      expect(await engine.status(jobId)).toMatchObject({ state: 'succeeded', budget: { callsMade: 3 } })
      expect(await engine.status(jobId)).toEqual(await place.engine.status(jobId))
      expect(await engine.ledger(jobId)).toEqual(await place.engine.ledger(jobId))
      expect(await engine.audit(jobId)).toMatchObject({ jobs: 1, findings: [] })
      const [file] = await engine.outputFiles(jobId)
      const [output] = await eachOf(engine.output(jobId))
      expect([file?.path, output?.path]).toEqual(['results.jsonl', 'results.jsonl'])
      expect(new TextDecoder().decode(output?.content).trimEnd().split('\n')).toHaveLength(3)
      expect(await engine.getFile('default', file?.sha256 ?? '')).toEqual(new Uint8Array(output?.content ?? []))
    })

    test('has no results of a job that has not succeeded', async () => {
      const { engine } = await opened()
      const { jobId } = await engine.submit(batch())
      for (const work of [() => engine.outputFiles(jobId), () => engine.output(jobId)]) {
        expect(await refusal(work())).toMatchObject({ is: 'JobStateError', code: 'job_state', details: { jobId, state: 'queued' } })
      }
    })

    test('checks the whole log, and says how far it is', async () => {
      const { engine } = await opened()
      for (const idempotencyKey of ['a', 'b']) await engine.submit(batch({ idempotencyKey }))
      const told: number[] = []
      const report = await engine.verifyLog({ progress: (events) => void told.push(events) })
      expect(report).toMatchObject({ jobs: 2, findings: [] })
      expect(told.at(-1)).toBe(report.events)
    })

    test('lists, rebuilds and checks views, and knows no others', async () => {
      const { engine } = await opened()
      await engine.submit(batch())
      const names = (await engine.projections()).map((view) => view.name)
      expect(names).toContain('jobList')
      expect((await engine.rebuild(['jobList'])).map((view) => [view.name, view.upToDate])).toEqual(names.map((view) => [view, true]))
      expect(await engine.verifyProjections([])).toEqual(names.map((view) => expect.objectContaining({ name: view, equal: true, differs: null })))
      for (const unknown of ['jobsList', '..', '', 'ü/', '\ud800']) {
        expect(await refusal(engine.rebuild(['jobList', unknown]))).toMatchObject({ is: 'InvalidInputError', details: { projection: unknown } })
        expect(await refusal(engine.verifyProjections([unknown]))).toMatchObject({ is: 'InvalidInputError', details: { projection: unknown } })
      }
    })
  })

  describe(`${name} as an engine: files`, () => {
    test.each([
      ['bytes of every value', Uint8Array.from({ length: 256 }, (_, at) => at)],
      ['nothing', new Uint8Array()],
      ['text that looks like JSON', bytes('{"a":1,"a":2}')],
      ['more than a body of JSON may be', new Uint8Array(5 * 1024 * 1024).fill(7)],
    ])('gives back %s as it was stored, to its own project alone', async (_, content) => {
      const { engine } = await opened()
      const { sha256, bytes: length } = await engine.putFile('red & co', content)
      expect(length).toBe(content.length)
      expect(await engine.putFile('red & co', content)).toEqual({ sha256, bytes: length })
      // Compared as buffers: item by item takes seconds.
      expect(Buffer.from((await engine.getFile('red & co', sha256)) ?? []).equals(content)).toBe(true)
      expect(await engine.getFile('blue', sha256)).toBeNull()
      expect(await engine.getFile('red & co', '0'.repeat(64))).toBeNull()
    })
  })

  describe(`${name} as an engine: commands`, () => {
    test('pauses, resumes and cancels, and is quiet when repeated', async () => {
      const { engine } = await opened()
      const { jobId } = await engine.submit(batch())
      const paused = await engine.pause(jobId)
      expect(paused).toMatchObject({ jobId, state: 'paused', existing: true })
      expect(await engine.pause(jobId)).toEqual(paused)
      expect(await engine.resume(jobId, { maximumCalls: 20_000, maximumCostUsd: '75.50' })).toMatchObject({
        state: 'queued',
        budget: { maximumCalls: 20_000, maximumCostUsd: '75.5' },
      })
      const cancelled = await engine.cancel(jobId)
      expect(cancelled).toMatchObject({ state: 'cancelled' })
      expect(await engine.cancel(jobId)).toEqual(cancelled)
    })

    test('writes once what comes twice under one command id', async () => {
      const { engine } = await opened()
      const { jobId } = await engine.submit(batch())
      await engine.pause(jobId, { commandId: 'p' })
      await engine.resume(jobId, undefined, { commandId: 'r' })
      const { revision } = await engine.status(jobId)
      expect(await engine.pause(jobId, { commandId: 'p' })).toMatchObject({ state: 'queued', revision })
    })

    test('raises limits, lifts them with null, and lowers none', async () => {
      const { engine, place } = await opened()
      const { jobId } = await engine.submit(batch())
      expect(await engine.raiseBudget(jobId, { maximumCostUsd: '60', maximumCalls: null })).toMatchObject({
        budget: { maximumCostUsd: '60', maximumCalls: null },
      })
      const lower = { maximumCostUsd: '1' }
      expect(await refusal(engine.raiseBudget(jobId, lower))).toEqual(await refusal(place.engine.raiseBudget(jobId, lower)))
      expect(await refusal(engine.raiseBudget(jobId, lower))).toMatchObject({ is: 'InvalidInputError', code: 'limit_lower' })
    })

    test('retries a failed job, and only that', async () => {
      const { engine, place } = await opened()
      const { jobId } = await engine.submit({ type: 'failing', files: [{ name: 'a', content: bytes('a') }], maxAttempts: 1 })
      expect(await refusal(engine.retry(jobId))).toEqual(await refusal(place.engine.retry(jobId)))
      expect(await refusal(engine.retry(jobId))).toMatchObject({ is: 'JobStateError', code: 'job_state' })
      await place.work({ once: true })
      expect(await engine.status(jobId)).toMatchObject({ state: 'failed' })
      expect(await engine.retry(jobId)).toMatchObject({ state: 'queued' })
    })

    test('lets nothing happen to an ended job', async () => {
      const { engine, place } = await opened()
      const { jobId } = await engine.submit(batch())
      await place.work({ once: true })
      for (const verb of ['pause', 'cancel', 'retry', 'resume'] as const) {
        expect([verb, await refusal(engine[verb](jobId))]).toEqual([verb, await refusal(place.engine[verb](jobId))])
        expect(await refusal(engine[verb](jobId))).toMatchObject({ is: 'JobStateError' })
      }
    })

    test('closes a held call by the bill, once', async () => {
      const { engine, place } = await opened({ providers: { cutting: { baseUrl: await cuttingProvider() } } })
      const { jobId } = await engine.submit(
        batch({
          provider: { name: 'cutting' },
          model: 'scripted',
          priceProfiles: [{ ...tenCentsAtWorst, provider: 'cutting' }],
          parameters: { maxOutputTokens: 64 },
          maxAttempts: 1,
          callAttempts: 1,
        }),
      )
      await place.work({ once: true })
      const [held] = (await engine.ledger(jobId)).lines.filter((line) => line.state === 'held')
      const told = { call: held?.call ?? 0, billed: true, costUsd: held?.worstCaseUsd ?? zeroUsd, note: 'by the bill' } as const
      expect(await engine.reconcile(jobId, told)).toMatchObject({ jobId, budget: { spentCostUsd: told.costUsd } })
      const again = { call: told.call, billed: false }
      expect(await refusal(engine.reconcile(jobId, again))).toEqual(await refusal(place.engine.reconcile(jobId, again)))
      expect(await refusal(engine.reconcile(jobId, again))).toMatchObject({ is: 'JobStateError', code: 'call_not_held' })
    })
  })

  describe(`${name} as an engine: following`, () => {
    test('shows a job now and with each change, until it pauses', async () => {
      const { engine, place } = await opened()
      const { jobId } = await engine.submit(batch())
      const states: string[] = []
      for await (const job of engine.follow(jobId.slice(0, 12), until())) {
        states.push(job.state)
        if (job.state === 'queued') await place.engine.pause(jobId)
      }
      expect(states).toEqual(['queued', 'paused'])
    })

    test('ends at once with a job that has ended, and when told to', async () => {
      const { engine } = await opened()
      const { jobId } = await engine.submit(batch())
      const leaving = new AbortController()
      for await (const job of engine.follow(jobId, leaving.signal)) {
        expect(job.state).toBe('queued')
        leaving.abort()
      }
      await engine.cancel(jobId)
      expect((await eachOf(engine.follow(jobId, until()))).map(({ state }) => state)).toEqual(['cancelled'])
    })

    test('tells a job that changes faster than it is asked for as it ends', async () => {
      const { engine, place } = await opened()
      const { jobId } = await engine.submit(batch())
      const seen = []
      let working: Promise<void> | null = null
      for await (const job of engine.follow(jobId, until())) {
        seen.push(job)
        working ??= place.work({ only: job.jobId })
      }
      await working
      expect(seen.at(-1)).toMatchObject({ state: 'succeeded', budget: { callsMade: 3 } })
      const revisions = seen.map(({ revision }) => revision)
      expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b))
    })

    /** Frames up to the first mark. */
    const told = async (engine: Engine, query: LiveQuery): Promise<readonly LiveFrame[]> => {
      const leaving = new AbortController()
      const frames: LiveFrame[] = []
      for await (const frame of engine.live(query, leaving.signal)) {
        frames.push(frame)
        if (frame.kind === 'caught_up') leaving.abort()
      }
      return frames
    }
    const eventsOf = (frames: readonly LiveFrame[]) => frames.flatMap((frame) => (frame.kind === 'event' ? [frame.event] : []))

    test('tells what is in the log, exactly, from any position and of any query', async () => {
      const { engine, place } = await opened()
      const { jobId } = await engine.submit(batch({ projectId: 'red' }))
      await place.work({ once: true })
      const { items } = await place.engine.events(jobId, { limit: 1_000 })
      const other = await engine.submit(batch({ projectId: 'blue' }))
      const from = await told(engine, { after: 'start' })
      expect(eventsOf(from).map((event) => event.jobId)).toEqual([...items.map(() => jobId), other.jobId])
      expect(eventsOf(await told(engine, { after: 'start', jobId: jobId.slice(0, 12) }))).toEqual(items)
      expect(eventsOf(await told(engine, { after: 'start', projectIds: ['blue'] })).map((event) => event.jobId)).toEqual([other.jobId])
      const claims = items.filter(({ type }) => type === 'JobLeased')
      expect(eventsOf(await told(engine, { after: 'start', types: ['JobLeased'] }))).toEqual(claims)
      expect(eventsOf(await told(engine, { after: items[2]?.position ?? '', jobId }))).toEqual(items.slice(3))
      expect(await told(engine, {})).toEqual([{ kind: 'caught_up', position: from.at(-1)?.position }])
    })

    test('tells nothing from a position of another log, nor of a job that is not there', async () => {
      const { engine } = await opened()
      const stranger = engine.live({ after: '9'.repeat(16) }, until())
      expect(await refusal(stranger)).toMatchObject({ is: 'InvalidInputError', code: 'foreign_position' })
      expect(await refusal(engine.live({ jobId: '0'.repeat(32) }, until()))).toMatchObject({ code: 'job_not_found' })
    })
  })
}
