import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { EngineError } from '../../domain/errors.ts'
import { openWorkplace } from '../../server/compose.ts'
import { Config } from '../../server/config.ts'
import { defineJob } from '../../server/defineJob.ts'
import type { Grant, Role } from '../../server/access.ts'
import type { Engine, Submission, Workplace } from '../../server/engine.ts'

/** A job type that asks nobody and is done at once. */
const nothingToDo = defineJob({ type: 'nothing', version: 1, input: z.unknown(), stages: [{ name: 'only', run: async () => null }] })

const opened = async () => {
  const providers = { mine: { baseUrl: 'http://127.0.0.1:9/v1', apiKeyEnv: 'MINE' } }
  const config = Config.parse({ store: 'memory:', providers })
  return openWorkplace(config, { env: {}, log: () => {}, definitions: [nothingToDo] })
}

const open = async () => {
  const workplace = await opened()
  onTestFinished(() => workplace.close())
  return workplace
}

const grant = (over: Partial<Grant> = {}): Grant => ({ name: 'ann', role: 'admin', projects: ['red'], ...over })
const submission = (projectId: string, over: Partial<Submission> = {}): Submission => ({
  projectId,
  type: 'nothing',
  input: null,
  idempotencyKey: 'the-key',
  ...over,
})
const prompts = (projectId: string): Submission => ({
  projectId,
  type: 'batch',
  files: [{ name: 'prompts.jsonl', content: new TextEncoder().encode('{ "id": "q", "prompt": "Why?" }\n') }],
  provider: { name: 'offline' },
  model: 'offline-small',
})

/** A job of each of two projects, worked to its end, and the engine as it is for the first project. */
const twoTenants = async (workplace: Workplace) => {
  const own = await workplace.engine.submit(prompts('red'))
  const foreign = await workplace.engine.submit(prompts('blue'))
  await workplace.work({ once: true })
  const file = new TextEncoder().encode('of blue alone')
  const { sha256 } = await workplace.engine.putFile('blue', file)
  const at = (over: Partial<Grant> = {}): Engine => workplace.engineFor(grant(over))
  return { ...workplace, own, foreign, file, sha256, at }
}

const all = async <Item>(items: AsyncIterable<Item>): Promise<readonly Item[]> => {
  const found: Item[] = []
  for await (const item of items) found.push(item)
  return found
}

const raisedBy = async (work: Promise<unknown>): Promise<EngineError> => {
  const error: unknown = await work.then(
    (value) => new Error(`it was answered: ${JSON.stringify(value)}`),
    (raised: unknown) => raised,
  )
  if (error instanceof EngineError) return error
  throw error
}

/** What a tenant may be after with each verb, and how it is refused: as a stranger to the job, or to the whole project. */
type Reach = { readonly as: 'unknown' | 'forbidden' | 'nothing'; go(engine: Engine, jobId: string, sha256: string): Promise<unknown> }
const unknown = (go: Reach['go']): Reach => ({ as: 'unknown', go })
const forbidden = (go: Reach['go']): Reach => ({ as: 'forbidden', go })

const until = (): AbortSignal => new AbortController().signal

const reaches: { readonly [Verb in keyof Engine]: Reach } = {
  submit: forbidden((engine) => engine.submit(submission('blue'))),
  find: forbidden((engine) => engine.find(submission('blue'))),
  estimate: forbidden((engine) => engine.estimate(submission('blue'))),
  status: unknown((engine, jobId) => engine.status(jobId)),
  list: forbidden((engine) => engine.list({ projectId: 'blue' })),
  events: unknown((engine, jobId) => engine.events(jobId)),
  pause: unknown((engine, jobId) => engine.pause(jobId)),
  resume: unknown((engine, jobId) => engine.resume(jobId)),
  cancel: unknown((engine, jobId) => engine.cancel(jobId)),
  retry: unknown((engine, jobId) => engine.retry(jobId)),
  raiseBudget: unknown((engine, jobId) => engine.raiseBudget(jobId, { maximumCalls: 20_000 })),
  reconcile: unknown((engine, jobId) => engine.reconcile(jobId, { call: 1, billed: false })),
  ledger: unknown((engine, jobId) => engine.ledger(jobId)),
  audit: unknown((engine, jobId) => engine.audit(jobId)),
  verifyLog: forbidden((engine) => engine.verifyLog()),
  projections: { as: 'nothing', go: async (engine) => JSON.stringify(await engine.projections()) },
  rebuild: forbidden((engine) => engine.rebuild([])),
  verifyProjections: forbidden((engine) => engine.verifyProjections([])),
  follow: unknown((engine, jobId) => all(engine.follow(jobId, until()))),
  outputFiles: unknown((engine, jobId) => engine.outputFiles(jobId)),
  output: unknown((engine, jobId) => all(engine.output(jobId))),
  live: unknown((engine, jobId) => all(engine.live({ jobId, after: 'start' }, until()))),
  putFile: forbidden((engine) => engine.putFile('blue', new Uint8Array([1]))),
  getFile: forbidden((engine, _, sha256) => engine.getFile('blue', sha256)),
  resolve: unknown((engine, jobId) => engine.resolve(jobId)),
  close: { as: 'nothing', go: (engine) => engine.close() },
}
const verbs = Object.entries(reaches)
const nobody = '0123456789abcdef0123456789abcdef'

describe('of another project', () => {
  // None of these may change anything, so one log serves them all.
  let tenants: Awaited<ReturnType<typeof twoTenants>>
  beforeAll(async () => void (tenants = await twoTenants(await opened())))
  afterAll(() => tenants.close())

  test('every verb is tried', async () => {
    const { engine, at } = tenants
    expect(Object.keys(at()).toSorted()).toEqual(Object.keys(engine).toSorted())
    expect(Object.keys(reaches).toSorted()).toEqual(Object.keys(engine).toSorted())
  })

  test.each(verbs.filter(([, { as }]) => as === 'unknown'))('a job is as unknown to %s as one that is not there', async (_, { go }) => {
    const { at, foreign, sha256, own, engine } = tenants
    const untouched = await engine.status(foreign.jobId)
    for (const handle of [foreign.jobId, foreign.jobId.slice(0, 12), foreign.jobId.toUpperCase()]) {
      const stranger = await raisedBy(go(at(), handle, sha256))
      const missing = await raisedBy(go(at(), nobody, sha256))
      expect(stranger).toMatchObject({ code: 'job_not_found', name: missing.name })
      expect(stranger.message.replaceAll(handle, nobody)).toBe(missing.message)
      expect(stranger.details).toEqual({ ...missing.details, handle, nearest: [own.jobId] })
    }
    expect(await engine.status(foreign.jobId)).toEqual(untouched)
  })

  test.each(verbs.filter(([, { as }]) => as === 'forbidden'))('%s is forbidden', async (_, { go }) => {
    const { at, foreign, sha256, engine } = tenants
    const before = await engine.list({})
    const { code, message, details } = await raisedBy(go(at(), foreign.jobId, sha256))
    expect(code).toBe('forbidden')
    expect(`${message}${JSON.stringify(details)}`).not.toContain(foreign.jobId)
    expect(await engine.list({})).toEqual(before)
  })

  test.each(verbs.filter(([, { as }]) => as === 'nothing'))('nothing is told or done by %s', async (_, { go }) => {
    const { at, engine, foreign, sha256 } = tenants
    expect(String(await go(at(), foreign.jobId, sha256))).not.toContain('blue')
    expect(await engine.status(foreign.jobId)).toMatchObject({ state: 'succeeded' })
  })

  test('an artifact is as unknown in one’s own project as one that is not there', async () => {
    const { at, engine, sha256, file } = tenants
    expect(await at().getFile('red', sha256)).toBeNull()
    expect(await engine.getFile('blue', sha256)).toEqual(file)
  })

  test('nothing is followed, also where all events are asked for, by either of two tenants', async () => {
    const { at, own, foreign } = tenants
    const jobsOf = async (projects: readonly string[] | null): Promise<readonly string[]> => {
      const seen = new Set<string>()
      for await (const frame of at({ projects }).live({ after: 'start' }, until())) {
        if (frame.kind === 'caught_up') break
        seen.add(frame.event.jobId)
      }
      return [...seen]
    }
    expect(await jobsOf(['red'])).toEqual([own.jobId])
    expect(await jobsOf(['blue'])).toEqual([foreign.jobId])
    expect(await jobsOf(['green'])).toEqual([])
    expect(await jobsOf(null)).toEqual([own.jobId, foreign.jobId])
    await expect(all(at().live({ projectIds: ['red', 'blue'] }, until()))).rejects.toMatchObject({ code: 'forbidden' })
  })

  test('what is left undefined does not widen what is seen', async () => {
    const { at, own } = tenants
    // A body that was read from JSON may hold what its type does not let one write.
    const query = { projectId: undefined, projectIds: undefined } as object
    expect((await at().list(query)).items.map(({ jobId }) => jobId)).toEqual([own.jobId])
    for await (const frame of at().live({ ...query, after: 'start' }, until())) {
      if (frame.kind === 'caught_up') break
      expect(frame.event.jobId).toBe(own.jobId)
    }
  })
})

test('how long the answers of others were is not told by an estimate', async () => {
  const { engine, engineFor, work } = await open()
  const content = Array.from({ length: 20 }, (_, at) => JSON.stringify({ id: `q${at}`, prompt: 'Why?' })).join('\n')
  await engine.submit({ ...prompts('blue'), files: [{ name: 'p.jsonl', content: new TextEncoder().encode(content) }] })
  await work({ once: true })
  const basis = async (projects: readonly string[] | null): Promise<string> =>
    (await engineFor(grant({ projects })).estimate(prompts(projects?.[0] ?? 'red'))).basis
  expect([await basis(['red']), await basis(['blue']), await basis(['red', 'blue']), await basis(null)]).toEqual([
    ...['guess', 'history', 'history', 'history'],
  ])
})

describe('of one’s own project', () => {
  test('everything may be done, and stands in the log under the name of the token', async () => {
    const { at, own } = await twoTenants(await open())
    const engine = at({ role: 'operate' })
    const job = await engine.submit(submission('red'), { actor: 'root', commandId: 'c-1' })
    await engine.cancel(job.jobId.slice(0, 10), { actor: 'root' })
    const { items } = await engine.events(job.jobId)
    expect(items[0]?.meta).toMatchObject({ actor: 'token:ann', commandId: 'c-1' })
    expect(items.map(({ type, meta }) => [type, (meta as { actor: string }).actor])).toEqual([
      ['JobSubmitted', 'token:ann'],
      ['CancellationRequested', 'token:ann'],
      ['JobCancelled', 'token:ann'],
    ])
    expect((await engine.list({})).items.map(({ jobId }) => jobId)).toEqual([job.jobId, own.jobId])
    expect(await all(engine.output(own.jobId))).toHaveLength(1)
    const { sha256 } = await engine.putFile('red', new Uint8Array([7]))
    expect(await engine.getFile('red', sha256)).toEqual(new Uint8Array([7]))
  })

  test('the engine stays open for others when one of them closes his', async () => {
    const { at, engine, own } = await twoTenants(await open())
    await at().close()
    expect(await engine.status(own.jobId)).toMatchObject({ state: 'succeeded' })
  })
})

describe('a role', () => {
  const steering = ['submit', 'pause', 'resume', 'cancel', 'retry', 'raiseBudget', 'reconcile', 'projections', 'putFile'] as const
  const overseeing = ['verifyLog', 'rebuild', 'verifyProjections'] as const

  const refusedTo = async (role: Role): Promise<readonly string[]> => {
    const { at, foreign, sha256 } = await twoTenants(await open())
    const engine = at({ role, projects: null })
    const refused: string[] = []
    for (const [verb, { go }] of verbs) {
      if (verb === 'live') continue
      const error: unknown = await go(engine, foreign.jobId, sha256).catch((raised: unknown) => raised)
      if (error instanceof EngineError && error.code === 'forbidden') refused.push(verb)
    }
    return refused.toSorted()
  }

  test('to read looks at everything, and changes nothing', async () => {
    expect(await refusedTo('read')).toEqual([...steering, ...overseeing].toSorted())
  })

  test('to operate steers jobs too', async () => {
    expect(await refusedTo('operate')).toEqual([...overseeing].toSorted())
  })

  test('of an admin does everything', async () => {
    expect(await refusedTo('admin')).toEqual([])
  })
})

describe('a provider', () => {
  test.each([
    ['an address of its own', { name: 'openai', baseUrl: 'https://evil.example/v1' }, 'forbidden_base_url'],
    ['the very address that is configured', { name: 'mine', baseUrl: 'http://127.0.0.1:9/v1' }, 'forbidden_base_url'],
    ['an empty address', { name: 'mine', baseUrl: '' }, 'forbidden_base_url'],
    ['a name that is not configured', { name: 'other' }, 'forbidden_provider'],
    ['a public name that is not configured', { name: 'openai' }, 'forbidden_provider'],
    ['a name like a method', { name: 'constructor' }, 'forbidden_provider'],
  ])('with %s is refused, whoever asks', async (_, provider, code) => {
    const { engineFor, engine } = await open()
    const scoped = engineFor(grant({ projects: null }))
    const asking = submission('red', { provider, model: 'm', allowUnpriced: ['m'] })
    for (const verb of ['submit', 'find', 'estimate'] as const) await expect(scoped[verb](asking)).rejects.toMatchObject({ code })
    expect((await engine.list({})).items).toEqual([])
  })

  test.each([{ name: 'mine' }, { name: 'mine', baseUrl: null }, { name: 'offline' }])('that is configured may be named: %o', async (provider) => {
    const { engineFor } = await open()
    const asking = submission('red', { provider, model: 'm', allowUnpriced: ['m'] })
    expect(await engineFor(grant()).submit(asking)).toMatchObject({ state: 'queued' })
  })
})

test('whoever has some projects finds in a log of all what is in a log of these alone', async () => {
  const projects = ['red', 'blue', 'green']
  const jobs = fc.array(fc.tuple(fc.constantFrom(...projects), fc.integer({ min: 0, max: 1_000 })), { maxLength: 24 })
  const tenants = fc.subarray(projects, { minLength: 1 })
  await fc.assert(
    fc.asyncProperty(jobs, tenants, fc.integer({ min: 1, max: 5 }), async (submitted, own, limit) => {
      const [whole, part] = [await open(), await open()]
      for (const [project, key] of submitted) {
        const job = submission(project, { idempotencyKey: `key-${key}` })
        await whole.engine.submit(job)
        if (own.includes(project)) await part.engine.submit(job)
      }
      const scoped = whole.engineFor(grant({ projects: own }))
      const alone = part.engine
      expect(await pagesOf(scoped, limit)).toEqual(await pagesOf(alone, limit))
      for (const projectId of own) {
        expect(await idsOf(scoped, { projectId })).toEqual(await idsOf(alone, { projectId }))
      }
      const ids = await idsOf(whole.engine, {})
      for (const handle of ids.flatMap((id) => [id, id.slice(0, 1), id.slice(0, 2)])) {
        const [here, there] = [await found(scoped, handle), await found(alone, handle)]
        expect(here.answer).toEqual(there.answer)
        for (const id of here.suggested) expect(await idsOf(alone, {})).toContain(id)
      }
    }),
    { numRuns: 25, seed: 4 },
  )
})

type Listed = { readonly projectId?: string }
const idsOf = async (engine: Engine, query: Listed): Promise<readonly string[]> =>
  (await engine.list({ ...query, limit: 500 })).items.map(({ jobId }) => jobId)

const pagesOf = async (engine: Engine, limit: number): Promise<readonly (readonly string[])[]> => {
  const pages: (readonly string[])[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Awaited<ReturnType<Engine['list']>> = await engine.list({ limit, ...(cursor === '' ? {} : { cursor }) })
    pages.push(page.items.map(({ jobId }) => jobId))
    cursor = page.nextCursor
  }
  return pages
}

/** What becomes of a handle; suggestions apart, since which of one's jobs are near is for nobody to rely on. */
const found = async (engine: Engine, handle: string) => {
  try {
    return { answer: await engine.resolve(handle), suggested: [] }
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    const { nearest = [], ...details } = error.details as { nearest?: readonly string[] }
    return { answer: { code: error.code, details }, suggested: nearest }
  }
}
