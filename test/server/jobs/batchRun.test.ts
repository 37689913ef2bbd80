import { describe, expect, test } from 'vitest'
import { PolicyBlockError, ProviderError, type FailureKind } from '../../../domain/errors.ts'
import { Usd } from '../../../domain/money.ts'
import { Interrupted, type StageCall } from '../../../server/defineJob.ts'
import { batchJob } from '../../../server/jobs/batch/batchJob.ts'
import type { BatchInput } from '../../../server/jobs/batch/batchInput.ts'
import { BatchOutput } from '../../../server/jobs/batch/exportResults.ts'
import { stageContext, stageLog, stored, type StageLog, type StageOptions } from '../../support/stageContext.ts'

type Claim = Partial<Omit<StageOptions<BatchInput>, 'log' | 'input'>>
type Submitted = { readonly log: StageLog; readonly input: BatchInput }

const jsonLines = (lines: readonly object[]) => Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
const submitted = (...files: (readonly object[])[]): Submitted => {
  const log = stageLog()
  const refs = files.map((lines) => stored(log, jsonLines(lines)))
  return { log, input: { files: refs, lines: files.flat().length } }
}
const prompts = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: `line ${n}`, prompt: `Question ${n}` }))

/** Runs the stages that have no result yet, as a worker does. What was sent, also when the claim ended early. */
const work = async (job: Submitted, claim: Claim = {}) => {
  const sent: StageCall[] = []
  const progress: unknown[] = []
  let raised: unknown = null
  for (const stage of batchJob.stages.filter(({ name }) => !job.log.results.has(name))) {
    const run = stageContext(stage.name, { ...job, ...claim })
    try {
      job.log.results.set(stage.name, JSON.parse(JSON.stringify(await stage.run(run.context))))
    } catch (error) {
      raised = error
    }
    sent.push(...run.sent)
    progress.push(...run.progress)
    if (raised !== null) break
  }
  return { sent: sent.map(({ key }) => key), calls: sent, progress, raised }
}
const resultsText = ({ log }: Submitted): string => {
  const [file] = batchJob.files!(log.results.get('export'))
  expect(file?.path).toBe('results.jsonl')
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(log.artifacts.get(file!.ref.sha256))
}
const results = (job: Submitted) =>
  resultsText(job)
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

const failing = (kind: FailureKind, more: { code?: string; retryable?: boolean } = {}) =>
  new ProviderError({ code: `a_${kind}`, message: `it was ${kind}`, kind, billed: 'no', ...more })
const failFor = (errors: Record<string, Error>) => (call: StageCall) => {
  const error = errors[call.key]
  if (error !== undefined) throw error
  return { text: `answer to ${call.key}` }
}

describe('a batch', () => {
  test('asks once for each line and writes the results in its order, whatever order the answers come in', async () => {
    const job = submitted(prompts(4), [{ id: 'last', prompt: 'Question', system: 'Be brief', model: 'big', seed: 3 }])
    const waiting: (() => void)[] = []
    const answered: string[] = []
    const { sent, calls } = await work(job, {
      concurrency: 5,
      answer: async ({ key }, open) => {
        // The last one asked is answered first, and each lets the one before it go.
        if (open < 5) await new Promise<void>((resolve) => waiting.push(resolve))
        answered.push(key)
        waiting.pop()?.()
        return { text: `answer to ${key}` }
      },
    })
    expect(answered).toEqual(['last', 'line 3', 'line 2', 'line 1', 'line 0'])
    expect(sent).toHaveLength(5)
    expect(results(job).map(({ id, text }) => [id, text])).toEqual([
      ['line 0', 'answer to line 0'],
      ['line 1', 'answer to line 1'],
      ['line 2', 'answer to line 2'],
      ['line 3', 'answer to line 3'],
      ['last', 'answer to last'],
    ])
    expect(calls[4]).toEqual({
      key: 'last',
      model: 'big',
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Question' },
      ],
      maxOutputTokens: 1024,
      seed: 3,
    })
  })

  test('sends exactly the requests that it was priced by', async () => {
    const lines = [
      { id: 'a', prompt: 'x', temperature: 0, maxOutputTokens: 3 },
      { id: 'b', messages: [{ role: 'user', content: 'y' }], model: 'big' },
    ]
    const job = submitted(lines)
    const settings = { model: 'small', parameters: { maxOutputTokens: 77, seed: 5 } }
    const [ref] = job.input.files
    const file = { name: 'a.jsonl', content: jsonLines(lines) }
    const { calls: foreseen, input } = batchJob.inspect!([{ file, ref: ref! }], { ...settings, target: null })
    expect(input).toEqual(job.input)
    const { calls } = await work(job, { ...settings, concurrency: 1 })
    expect(foreseen.every(({ stage }) => stage === 'generate')).toBe(true)
    expect(calls).toEqual(foreseen.map(({ request }, index) => ({ key: lines[index]!.id, ...request })))
  })

  test('gives each answer with usage, cost, metadata, and whether the provider read its cache', async () => {
    const job = submitted([
      { id: 'a', prompt: 'x', metadata: { constructor: 1, hasOwnProperty: { prototype: [null] } } },
      { id: 'b', prompt: 'y' },
      { id: 'c', prompt: 'z' },
    ])
    const usage = { inputTokens: 1, cachedInputTokens: 9, cacheWriteTokens: 0, outputTokens: 2 }
    await work(job, {
      answer: ({ key }) => {
        if (key === 'b') return { text: 'B', usage, costUsd: Usd.parse('0.1') }
        return key === 'a' ? { text: 'A', usage: { ...usage, cachedInputTokens: 0 } } : { text: 'C', usage: null }
      },
    })
    const usageText = (cached: number) =>
      `{"inputTokens":1,"cachedInputTokens":${cached},"cacheWriteTokens":0,"outputTokens":2}`
    const metadata = '{"constructor":1,"hasOwnProperty":{"prototype":[null]}}'
    expect(resultsText(job).split('\n')).toEqual([
      `{"id":"a","text":"A","usage":${usageText(0)},"costUsd":"0.001","metadata":${metadata}}`,
      `{"id":"b","text":"B","usage":${usageText(9)},"costUsd":"0.1","cached":true}`,
      '{"id":"c","text":"C","usage":null,"costUsd":"0.001"}',
      '',
    ])
    expect(job.log.results.get('export')).toMatchObject({ lines: 3, succeeded: 3, failed: 0, costUsd: '0.102' })
  })

  test('OX-22: keeps NUL, U+FFFF, U+2028 and a byte order mark of an answer exactly', async () => {
    const odd = '\uFEFF\u0000\uFFFF\u2028\u2029\r\n😀"\\'
    const job = submitted([{ id: odd, prompt: odd, metadata: { [odd]: odd } }])
    await work(job, { answer: () => ({ text: odd }) })
    expect(results(job)).toEqual([expect.objectContaining({ id: odd, text: odd, metadata: { [odd]: odd } })])
  })

  test('tells after each line how many are done', async () => {
    const job = submitted(prompts(3))
    const { progress } = await work(job, { answer: failFor({ 'line 1': failing('invalid_input') }) })
    expect(progress).toEqual([1, 2, 3, 3].map((done) => ({ done, total: 3, unit: 'lines' })))
  })

  test('with 10 000 lines costs no more for each than a small one: all are asked once, in order', async () => {
    const job = submitted(prompts(10_000))
    const { sent } = await work(job, { concurrency: 16 })
    expect(new Set(sent).size).toBe(10_000)
    expect(sent).toHaveLength(10_000)
    expect(results(job).map(({ id }) => id)).toEqual(prompts(10_000).map(({ id }) => id))
    expect(job.log.results.get('export')).toMatchObject({ costUsd: '10' })
    expect(job.log.checkpoints.size).toBe(0)
  })

  test('with answers of 8 MB keeps each of them whole', async () => {
    const job = submitted(prompts(3))
    await work(job, { answer: ({ key }) => ({ text: key.at(-1)!.repeat(8_000_000) }) })
    expect(results(job).map(({ text }) => [text[0], text.length])).toEqual([
      ['0', 8_000_000],
      ['1', 8_000_000],
      ['2', 8_000_000],
    ])
  })

  test('whose stored file breaks a rule fails in its intake, before anything is sent', async () => {
    const job = submitted([{ id: 'a', promt: 'x' }])
    const { raised, sent } = await work(job)
    expect(raised).toMatchObject({ code: 'invalid_input', message: expect.stringMatching(/^input 1:1: .*"prompt"/) })
    expect(sent).toEqual([])
  })

  test('with other lines than were submitted, or without a model, fails in its intake', async () => {
    const { log, input } = submitted(prompts(2))
    const other = await work({ log, input: { ...input, lines: 3 } })
    expect(other.raised).toMatchObject({ code: 'invalid_input', message: expect.stringContaining('2 lines, not 3') })
    expect((await work({ log, input }, { model: null })).raised).toMatchObject({ code: 'invalid_input' })
    expect(log.results.size).toBe(0)
  })
})

describe('a batch that is stopped', () => {
  const errors = { 'line 2': failing('invalid_input'), 'line 9': new PolicyBlockError('policy_block', 'no') }

  test.each(Array.from({ length: 20 }, (_, sends) => sends))(
    'after %i sends and resumed sends no answered line again, and writes the same bytes as an undisturbed one',
    async (sendsMax) => {
      const undisturbed = submitted(prompts(20))
      await work(undisturbed, { answer: failFor(errors), concurrency: 3 })
      const job = submitted(prompts(20))
      const before = await work(job, { answer: failFor(errors), concurrency: 3, sendsMax })
      expect(before.raised).toBeInstanceOf(Interrupted)
      const answered = [...job.log.answers.keys()].length
      const after = await work(job, { answer: failFor(errors), concurrency: 5 })
      expect(after.raised).toBeNull()
      expect(after.sent.filter((key) => before.sent.includes(key) && !(key in errors))).toEqual([])
      expect(answered + after.sent.filter((key) => !(key in errors)).length).toBe(18)
      expect(resultsText(job)).toBe(resultsText(undisturbed))
      expect(job.log.results.get('export')).toEqual(undisturbed.log.results.get('export'))
    },
  )

  test('does not send a line again that has failed for good beside one that succeeded', async () => {
    const job = submitted(prompts(6))
    const before = await work(job, { answer: failFor(errors), concurrency: 1, sendsMax: 4 })
    expect(before.sent).toEqual(['line 0', 'line 1', 'line 2', 'line 3'])
    expect([...job.log.checkpoints.values()]).toEqual([
      { error: { code: 'a_invalid_input', message: 'it was invalid_input' }, kind: 'invalid_input' },
    ])
    expect((await work(job)).sent).toEqual(['line 4', 'line 5'])
  })
})

describe('a line that fails', () => {
  test.each([
    ['its input', failing('invalid_input')],
    ['policy, as the provider says', failing('policy_block')],
    ['policy', new PolicyBlockError('a_policy_block', 'it was policy_block')],
    ['a refusal that no retry helps', failing('provider')],
  ])('for good by %s becomes an error in its place, and the job goes on', async (_, error) => {
    const job = submitted(prompts(3))
    const { raised } = await work(job, { answer: failFor({ 'line 1': error }) })
    expect(raised).toBeNull()
    const { code } = results(job)[1].error
    expect(results(job)[1]).toEqual({ id: 'line 1', error: { code, message: error.message } })
    expect(code).toMatch(/^a_(invalid_input|policy_block|provider)$/)
    expect(results(job).map(({ text }) => text)).toEqual(['answer to line 0', undefined, 'answer to line 2'])
    expect(BatchOutput.parse(job.log.results.get('export'))).toMatchObject({
      lines: 3,
      succeeded: 2,
      failed: 1,
      costUsd: '0.002',
    })
  })

  test.each([
    ['a cut connection', failing('transient')],
    ['a retryable refusal', failing('provider', { retryable: true })],
  ])('by %s has the job retried, and is an error only when no try is left', async (_, error) => {
    const job = submitted(prompts(3))
    const answer = failFor({ 'line 1': error })
    expect((await work(job, { answer })).raised).toBe(error)
    const last = await work(job, { answer, lastAttempt: true })
    expect(last).toMatchObject({ raised: null })
    expect(last.sent).toContain('line 1')
    expect(results(job)[1]).toEqual({ id: 'line 1', error: { code: error.code, message: error.message } })
  })

  test.each([
    ['a refused key', failing('provider', { code: 'provider_auth' })],
    ['an empty account', failing('provider', { code: 'provider_quota' })],
    ['a bug of the adapter', failing('bug')],
    ['an error of ours', new TypeError('oops')],
    ['an interruption', new Interrupted()],
  ])('by %s fails or stops the job, also in its last attempt: the line is not to blame', async (_, error) => {
    const job = submitted(prompts(3))
    const { raised } = await work(job, { answer: failFor({ 'line 1': error }), lastAttempt: true })
    expect(raised).toBe(error)
    expect([...job.log.checkpoints.keys()]).toEqual([])
  })

  test('with metadata gives it back beside the error', async () => {
    const job = submitted([{ id: 'a', prompt: 'x', metadata: { row: 7 } }, ...prompts(1)])
    await work(job, { answer: failFor({ a: failing('invalid_input') }) })
    expect(results(job)[0]).toMatchObject({ id: 'a', error: { code: 'a_invalid_input' }, metadata: { row: 7 } })
  })

  test('with a message of megabytes is reported in a thousand characters', async () => {
    const job = submitted(prompts(2))
    const message = '😀'.repeat(1_000_000)
    const error = new ProviderError({ code: 'x', message, kind: 'invalid_input', billed: 'no' })
    await work(job, { answer: failFor({ 'line 0': error }) })
    expect(results(job)[0].error.message.length).toBeLessThanOrEqual(1_000)
  })
})

describe('a batch of which every line fails', () => {
  test('fails with the code, kind and message of its only line', async () => {
    const job = submitted(prompts(1))
    const { raised } = await work(job, { answer: failFor({ 'line 0': failing('invalid_input') }) })
    expect(raised).toBeInstanceOf(ProviderError)
    expect(raised).toMatchObject({ code: 'a_invalid_input', kind: 'invalid_input', message: '"line 0" failed with it was invalid_input' })
  })

  test('fails with that of its first line in input order, naming it', async () => {
    const job = submitted(prompts(2))
    const waiting: (() => void)[] = []
    const { raised } = await work(job, {
      answer: async ({ key }) => {
        if (key === 'line 0') await new Promise<void>((resolve) => waiting.push(resolve))
        else setImmediate(() => waiting.forEach((release) => release()))
        throw key === 'line 0' ? failing('provider') : failing('invalid_input')
      },
    })
    expect(raised).toMatchObject({
      code: 'a_provider',
      kind: 'provider',
      retryable: false,
      message: 'none of 2 lines has an answer: "line 0" failed with it was provider',
    })
  })

  test('is blocked by policy when policy stopped every line', async () => {
    const { raised } = await work(submitted(prompts(2)), {
      answer: failFor({ 'line 0': new PolicyBlockError('policy_block', 'no'), 'line 1': failing('policy_block') }),
    })
    expect(raised).toBeInstanceOf(PolicyBlockError)
    expect(raised).toMatchObject({ code: 'policy_block' })
  })

  test('may be retried when policy stopped only some', async () => {
    const { raised } = await work(submitted(prompts(2)), {
      answer: failFor({ 'line 0': new PolicyBlockError('policy_block', 'no'), 'line 1': failing('invalid_input') }),
    })
    expect(raised).toMatchObject({ code: 'a_invalid_input', kind: 'invalid_input' })
  })

  test('asks every line again when somebody retries it by hand', async () => {
    const job = submitted(prompts(3))
    const every = { 'line 0': failing('invalid_input'), 'line 1': failing('provider'), 'line 2': failing('transient') }
    const first = await work(job, { answer: failFor(every), lastAttempt: true })
    expect(first.raised).toMatchObject({ code: 'a_invalid_input' })
    const retried = await work(job)
    expect(retried.raised).toBeNull()
    expect(retried.sent).toHaveLength(3)
    expect(results(job).map(({ text }) => text)).toEqual(['answer to line 0', 'answer to line 1', 'answer to line 2'])
  })
})
