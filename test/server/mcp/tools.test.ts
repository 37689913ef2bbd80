import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { InvalidInputError, StoreUnavailable } from '../../../domain/errors.ts'
import { wellFormed } from '../../../domain/strictJson.ts'
import { defineJob, type JobDefinition } from '../../../server/defineJob.ts'
import type { Engine } from '../../../server/engine.ts'
import { workplaceOn } from '../../support/workplaceOn.ts'
import { agentBeside, batch } from '../../support/mcpAgents.ts'

const place = async (definitions: readonly JobDefinition[] = []) => {
  const opened = await workplaceOn('memory:', { definitions })
  onTestFinished(() => opened.close())
  const agent = await agentBeside(opened.engineFor({ name: 'agent', role: 'operate', projects: null }))
  const submitted = async (input = batch()) => (await agent.answer('knovaryn_submit_job', input)).value.job.jobId
  return { ...opened, agent, submitted }
}

const names = [
  'knovaryn_get_job',
  'knovaryn_list_jobs',
  'knovaryn_get_job_events',
  'knovaryn_submit_job',
  'knovaryn_estimate_job',
  'knovaryn_pause_job',
  'knovaryn_resume_job',
  'knovaryn_cancel_job',
  'knovaryn_retry_job',
]

test('nine tools are listed, each with its schemas, its hints and when to use it', async () => {
  const { agent } = await place()
  const { tools } = await agent.client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(names)
  for (const tool of tools) {
    expect(tool).toMatchObject({ title: expect.any(String), inputSchema: { type: 'object', additionalProperties: false }, outputSchema: { type: 'object' } })
    expect(tool.description?.length).toBeGreaterThan(80)
    expect(tool.annotations).toMatchObject({ readOnlyHint: expect.any(Boolean), openWorldHint: expect.any(Boolean) })
  }
  const hinted = (hint: 'readOnlyHint' | 'destructiveHint') => tools.filter(({ annotations }) => annotations?.[hint] === true).map(({ name }) => name)
  expect(hinted('readOnlyHint')).toEqual(['knovaryn_get_job', 'knovaryn_list_jobs', 'knovaryn_get_job_events', 'knovaryn_estimate_job'])
  expect(hinted('destructiveHint')).toEqual(['knovaryn_cancel_job'])
})

describe('an agent', () => {
  test('looks at a job, with its last events and what to do next', async () => {
    const { agent, submitted } = await place()
    const jobId = await submitted()
    const { value, text } = await agent.answer('knovaryn_get_job', { jobId: jobId.slice(0, 12) })
    expect(value).toMatchObject({ job: { jobId, state: 'queued', actualCostUsd: '0', checkpoint: null }, recentEvents: [{ revision: 0, type: 'JobSubmitted', actor: 'token:agent' }] })
    expect(value['next']).toContain('knovaryn worker')
    expect(text).toContain(`batch job ${jobId} is queued`)
  })

  test('pages through jobs', async () => {
    const { agent, submitted } = await place()
    const ids = [await submitted(batch(1)), await submitted(batch(2)), await submitted(batch(3))]
    const first = await agent.answer('knovaryn_list_jobs', { limit: 2 })
    const second = await agent.answer('knovaryn_list_jobs', { limit: 2, cursor: first.value['nextCursor'] })
    expect([first, second].flatMap(({ value }) => value['items'])).toMatchObject(ids.toReversed().map((jobId) => ({ jobId })))
    expect(second.value['nextCursor']).toBeNull()
  })

  test('pages through the events of a job', async () => {
    const { agent, submitted } = await place()
    const jobId = await submitted()
    await agent.answer('knovaryn_pause_job', { jobId })
    const first = await agent.answer('knovaryn_get_job_events', { jobId, limit: 1 })
    expect(first.value).toMatchObject({ items: [{ revision: 0, type: 'JobSubmitted' }], nextAfterRevision: 0 })
    const second = await agent.answer('knovaryn_get_job_events', { jobId, afterRevision: 0 })
    expect(second.value).toMatchObject({ items: [{ revision: 1, type: 'PauseRequested', actor: 'token:agent' }, { revision: 2, type: 'JobPaused' }], nextAfterRevision: null })
  })

  test('pauses, resumes and cancels a job, and a repeat of each changes nothing', async () => {
    const { agent, engine, submitted } = await place()
    const jobId = await submitted()
    for (const [name, state] of [['pause', 'paused'], ['resume', 'queued'], ['cancel', 'cancelled']] as const) {
      const [first, repeat] = [await agent.answer(`knovaryn_${name}_job`, { jobId }), await agent.answer(`knovaryn_${name}_job`, { jobId })]
      expect(first.value).toMatchObject({ job: { state } })
      expect(repeat.value).toEqual(first.value)
    }
    expect((await engine.status(jobId)).state).toBe('cancelled')
  })

  test('raises the limit of a job whose budget is used up, as it is told to, and the job ends', async () => {
    const { agent, work, submitted } = await place()
    const jobId = await submitted({ ...batch(3), limits: { maximumCalls: 1 } })
    await work({ once: true })
    const paused = await agent.answer('knovaryn_get_job', { jobId })
    expect(paused.value).toMatchObject({ job: { state: 'paused', errorCode: 'budget_exhausted', errorSummary: expect.stringContaining('maximumCalls') } })
    expect(paused.value['next']).toContain('knovaryn_resume_job')
    await agent.answer('knovaryn_resume_job', { jobId, limits: { maximumCalls: 3 } })
    await work({ once: true })
    expect((await agent.answer('knovaryn_get_job', { jobId })).value).toMatchObject({ job: { state: 'succeeded', budget: { callsMade: 3 } } })
  })

  test('has a failed job tried again once its trouble is mended', async () => {
    let isBroken = true
    const fragile = defineJob({
      type: 'fragile',
      version: 1,
      input: z.strictObject({ word: z.string() }),
      stages: [
        {
          name: 'say',
          async run({ input }) {
            if (isBroken) throw new InvalidInputError('the well is dry')
            return { said: input.word }
          },
        },
      ],
    })
    const { agent, work } = await place([fragile])
    const { jobId } = (await agent.answer('knovaryn_submit_job', { type: 'fragile', input: { word: 'water' } })).value.job
    await work({ once: true })
    const failed = await agent.answer('knovaryn_get_job', { jobId })
    expect(failed.value).toMatchObject({ job: { state: 'failed', errorSummary: expect.stringContaining('the well is dry') } })
    expect(failed.value['next']).toContain('knovaryn_retry_job')

    isBroken = false
    expect((await agent.answer('knovaryn_retry_job', { jobId })).value).toMatchObject({ job: { state: 'queued' } })
    await work({ once: true })
    expect((await agent.answer('knovaryn_get_job', { jobId })).value).toMatchObject({ job: { state: 'succeeded', output: { json: { said: 'water' } } } })
  })

  test('submits again with the same key and gets the job that is there', async () => {
    const { agent, engine } = await place()
    const first = await agent.answer('knovaryn_submit_job', { ...batch(), idempotencyKey: 'mine' })
    const again = await agent.answer('knovaryn_submit_job', { ...batch(), idempotencyKey: 'mine' })
    expect([first.value.job, again.value.job]).toMatchObject([{ existing: false }, { existing: true, jobId: first.value.job.jobId }])
    expect(again.text).toContain('was there already')
    expect((await engine.list({})).items).toHaveLength(1)
  })

  test('submits documents for a dataset', async () => {
    const { agent } = await place()
    const text = '# Tides\n\nThe tide comes in twice a day.\n'
    const { value } = await agent.answer('knovaryn_submit_job', { type: 'dataset', files: [{ name: 'tides.md', text }], provider: 'offline', model: 'offline-small', target: 2 })
    expect(value.job).toMatchObject({ type: 'dataset', state: 'queued' })
  })
})

test('OX-19: a key whose job has failed answers with that job and what to do, by this way too', async () => {
  const { agent, work } = await place()
  const blocked = { type: 'dataset', files: [{ name: 'secret.md', text: '---\nconfidential: true\n---\n# Plans\n\nNot for others.\n' }], provider: 'offline', model: 'offline-small', target: 1, idempotencyKey: 'k' }
  const { value } = await agent.answer('knovaryn_submit_job', blocked)
  await work({ once: true })
  const again = await agent.answer('knovaryn_submit_job', blocked)
  expect(again.value).toMatchObject({ job: { jobId: value.job.jobId, existing: true, state: 'failed', errorCode: 'policy_block' } })
  expect(again.value['next']).toContain('another idempotencyKey')
  expect(await agent.refusal('knovaryn_retry_job', { jobId: value.job.jobId })).toMatchObject({ code: expect.any(String), next: expect.any(String) })
})

test('OX-12: no file of the server is read by what an agent names', async () => {
  const { agent } = await place()
  for (const jobId of ['../../etc/passwd', '%2e%2e%2fetc', 'file:///etc/passwd', '\u0000']) {
    const { code, message } = await agent.refusal('knovaryn_get_job', { jobId })
    expect(code).toBe('job_not_found')
    expect(message).not.toContain('root:')
  }
  expect(await agent.refusal('knovaryn_submit_job', { ...batch(), files: [{ name: 'x', sha256: 'a'.repeat(64) }] })).toMatchObject({ code: 'invalid_input' })
})

describe('a call that is refused says what and by which rule, and what to do next:', () => {
  const nobody = { jobId: 'nobody' }
  test.each([
    ['knovaryn_get_job', nobody, 'job_not_found', /nobody/, /knovaryn_list_jobs/],
    ['knovaryn_get_job', {}, 'invalid_input', /"jobId" is missing/, /Change/],
    ['knovaryn_list_jobs', { state: 'done' }, 'invalid_input', /"state".*succeeded/, /Change/],
    ['knovaryn_list_jobs', { cursor: 'made-up' }, 'invalid_input', /cursor/, /Change/],
    ['knovaryn_list_jobs', { limit: 101 }, 'invalid_input', /"limit"/, /Change/],
    ['knovaryn_get_job_events', { ...nobody, limit: 101 }, 'invalid_input', /"limit"/, /Change/],
    ['knovaryn_get_job_events', nobody, 'job_not_found', /nobody/, /knovaryn_list_jobs/],
    ['knovaryn_submit_job', { ...batch(), promts: [] }, 'invalid_input', /unknown field "promts".*did you mean "prompts"/, /Change/],
    ['knovaryn_submit_job', { ...batch(), provider: 'elsewhere' }, 'forbidden_provider', /elsewhere.*offline/, /known/],
    ['knovaryn_submit_job', { ...batch(), provider: { name: 'openai', baseUrl: 'http://evil.example' } }, 'invalid_input', /"provider"/, /Change/],
    ['knovaryn_submit_job', { ...batch(), type: 'dataset' }, 'invalid_input', /"prompts"/, /Change/],
    ['knovaryn_submit_job', { ...batch(), prompts: [{ id: 'a', prompt: 'x' }, { id: 'a', prompt: 'y' }] }, 'invalid_input', /prompts:2: id "a"/, /Change/],
    ['knovaryn_estimate_job', { ...batch(), type: 'bath' }, 'invalid_input', /batch/, /Change/],
    ['knovaryn_estimate_job', { ...batch(), model: 'unheard-of' }, 'unpriced_model', /unheard-of/, /allowUnpriced/],
    ['knovaryn_pause_job', nobody, 'job_not_found', /nobody/, /knovaryn_list_jobs/],
    ['knovaryn_resume_job', nobody, 'job_not_found', /nobody/, /knovaryn_list_jobs/],
    ['knovaryn_cancel_job', nobody, 'job_not_found', /nobody/, /knovaryn_list_jobs/],
    ['knovaryn_retry_job', nobody, 'job_not_found', /nobody/, /knovaryn_list_jobs/],
  ])('%s of %j', async (tool, input, code, message, next) => {
    const { agent, engine } = await place()
    const refusal = await agent.refusal(tool, input)
    expect(refusal).toEqual({ code, message: expect.stringMatching(message), next: expect.stringMatching(next) })
    expect((await engine.list({})).items).toEqual([])
  })

  test('a state that does not allow it, a lower limit, another content under the key', async () => {
    const { agent, submitted } = await place()
    const jobId = await submitted({ ...batch(), idempotencyKey: 'k' })
    expect(await agent.refusal('knovaryn_retry_job', { jobId })).toMatchObject({ code: 'job_state', next: expect.stringContaining('knovaryn_get_job') })
    expect(await agent.refusal('knovaryn_submit_job', { ...batch(5), idempotencyKey: 'k' })).toMatchObject({ code: 'idempotency_conflict' })
    await agent.answer('knovaryn_pause_job', { jobId })
    expect(await agent.refusal('knovaryn_resume_job', { jobId, limits: { maximumCostUsd: '0.50' } })).toMatchObject({ code: 'limit_lower' })
  })

  test('a role that does not allow it', async () => {
    const { engineFor, submitted } = await place()
    const jobId = await submitted()
    const reader = await agentBeside(engineFor({ name: 'reader', role: 'read', projects: null }))
    await reader.answer('knovaryn_get_job', { jobId })
    await reader.answer('knovaryn_estimate_job', batch())
    for (const tool of ['pause', 'resume', 'cancel', 'retry']) {
      expect(await reader.refusal(`knovaryn_${tool}_job`, { jobId })).toMatchObject({ code: 'forbidden' })
    }
    expect(await reader.refusal('knovaryn_submit_job', batch(3))).toMatchObject({ code: 'forbidden' })
  })

  test('a tool that is not there', async () => {
    const { agent } = await place()
    await expect(agent.client.callTool({ name: 'knovaryn_drop_job' })).rejects.toThrow('there is no tool "knovaryn_drop_job"')
  })
})

test('of a fault an agent learns no word, and the log learns all', async () => {
  const { engine } = await place()
  const faults: string[] = []
  const broken = (error: Error): Engine => ({
    ...engine,
    status: async () => {
      throw error
    },
  })
  for (const [error, code] of [
    [new StoreUnavailable('cannot open /secret/place/log.db'), 'store_unavailable'],
    [new TypeError('/secret/place/source.ts is wrong'), 'internal'],
  ] as const) {
    const agent = await agentBeside(broken(error), faults)
    const refusal = await agent.refusal('knovaryn_get_job', { jobId: 'a' })
    expect(refusal).toMatchObject({ code, next: expect.any(String) })
    expect(JSON.stringify(refusal)).not.toContain('secret')
    expect(faults.pop()).toContain(error.message)
  }
})

test('what is long is shortened, and says how long it is', async () => {
  const { agent, submitted } = await place()
  const labels = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`label-${at}`, '🔥'.repeat(90)]))
  const jobId = await submitted({ ...batch(), labels })
  const { value } = await agent.answer('knovaryn_get_job_events', { jobId })
  const [first] = value['items'] as readonly { readonly data: { readonly shortened: string; readonly characters: number } }[]
  expect(first?.data.characters).toBeGreaterThan(7_000)
  expect(first?.data.shortened.length).toBeLessThanOrEqual(1_000)
  expect(first?.data.shortened).toBe(wellFormed(first?.data.shortened ?? ''))
})
