import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { InvalidInputError } from '../../domain/errors.ts'
import { addUsd, nanoUsd, type Usd, zeroUsd } from '../../domain/money.ts'
import { defineJob, type ForeseenCall, type JobDefinition } from '../../server/defineJob.ts'
import type { Estimate, GivenLimits, Submission } from '../../server/engine.ts'
import { promptLines } from '../support/cliInProcess.ts'
import { asks, heldProvider, heldWorld } from '../support/heldPlace.ts'
import { workplaceOn } from '../support/workplaceOn.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const batch = (lines: string, over: Partial<Submission> = {}): Submission => ({
  type: 'batch',
  files: [{ name: 'p.jsonl', content: bytes(lines) }],
  provider: { name: 'offline' },
  model: 'offline-small',
  ...over,
})

const opened = async (definitions: readonly JobDefinition[] = []) => {
  const place = await workplaceOn('memory:', { definitions })
  const run = async (submission: Submission) => {
    const { jobId } = await place.engine.submit(submission)
    await place.work({ only: jobId }, new AbortController().signal)
    return place.engine.status(jobId)
  }
  return { ...place, run }
}

const call = (over: Partial<Omit<ForeseenCall, 'request'>> & { request?: Partial<ForeseenCall['request']> } = {}): ForeseenCall => ({
  stage: 'ask',
  ...over,
  request: { model: 'offline-small', messages: [{ role: 'user', content: 'why?' }], maxOutputTokens: 100, ...over.request },
})

/** A job of two stages that foresees these calls. */
const foreseeing = (foresee: JobDefinition['foresee']): JobDefinition =>
  defineJob({
    type: 'foreseeing',
    version: 1,
    input: z.unknown(),
    stages: [
      { name: 'read', run: async () => null },
      { name: 'ask', run: async () => null },
    ],
    inspect: (files) => ({ input: files.map(({ ref }) => ref), calls: [] }),
    ...(foresee === undefined ? {} : { foresee }),
  })
const calling = (...calls: readonly ForeseenCall[]) =>
  foreseeing(async function* () {
    yield* calls
  })
const foreseen = (over: Partial<Submission> = {}): Submission => batch('text', { type: 'foreseeing', ...over })

/** How far what was expected is from what was spent, in parts of the latter. */
const distance = (expected: Usd | null, spent: Usd): number =>
  Math.abs(Number(nanoUsd(expected ?? zeroUsd)) - Number(nanoUsd(spent))) / Number(nanoUsd(spent))

describe('the worst case', () => {
  test('is what the calls reserve, to the last digit', async () => {
    const place = await opened()
    const lines = [
      { id: 'a', prompt: 'Why?' },
      { id: 'b', prompt: 'Wie heißt 山?', system: 'Be brief.', maxOutputTokens: 7 },
      { id: 'c', messages: [{ role: 'user', content: 'x' }, { role: 'assistant', content: 'y' }, { role: 'user', content: 'z '.repeat(900) }] },
    ]
    const submission = batch(lines.map((line) => JSON.stringify(line)).join('\n'))
    const { total, stages } = await place.engine.estimate(submission)
    const { jobId, estimatedCostUsd } = await place.run(submission)
    const { items } = await place.engine.events(jobId, { limit: 1_000 })
    const reserved = items.flatMap((event) => (event.type === 'ProviderCallReserved' ? [event.data.worstCase] : []))
    expect(reserved).toHaveLength(3)
    expect(total).toMatchObject({
      calls: 3,
      costUsd: { worst: reserved.reduce((sum, { costUsd }) => addUsd(sum, costUsd), zeroUsd) },
      inputTokens: { worst: reserved.reduce((sum, { inputTokens }) => sum + inputTokens, 0) },
      outputTokens: { worst: reserved.reduce((sum, { outputTokens }) => sum + outputTokens, 0) },
    })
    expect(estimatedCostUsd).toBe(total.costUsd.worst)
    expect(stages.map(({ stage, calls }) => [stage, calls])).toEqual([['intake', 0], ['generate', 3], ['export', 0]])
  })

  test('is unknown where the provider is not there, and what is expected is four bytes a token', async () => {
    const { engine } = await opened()
    const { total } = await engine.estimate(batch('{"id":"a","prompt":"12345678"}', { provider: { name: 'mine' }, allowUnpriced: ['offline-small'] }))
    expect(total).toMatchObject({ inputTokens: { expected: 2, worst: null }, costUsd: { expected: null, worst: null } })
  })

  test('is no cost without a price, and of several models that of the priced ones', async () => {
    const place = await opened()
    const line = (id: string, model?: string) => JSON.stringify({ id, prompt: 'why?', model })
    const free = { allowUnpriced: ['free'] }
    const one = await place.engine.estimate(batch(line('a')))
    const unpriced = await place.engine.estimate(batch(line('a', 'free'), free))
    const mixed = await place.engine.estimate(batch(`${line('a')}\n${line('b', 'free')}`, free))
    expect(unpriced).toMatchObject({ unpriced: ['free'], total: { costUsd: { expected: null, worst: null } }, exceeds: [] })
    expect(mixed).toMatchObject({ unpriced: ['free'], total: { calls: 2, costUsd: one.total.costUsd } })
  })
})

describe('what is expected', () => {
  test('is a guess of half the longest answers where nothing is known', async () => {
    const { engine } = await opened()
    const { basis, total } = await engine.estimate(batch(promptLines(4), { parameters: { maxOutputTokens: 50 } }))
    expect({ basis, outputTokens: total.outputTokens }).toEqual({ basis: 'guess', outputTokens: { expected: 100, worst: 200 } })
  })

  test('is a guess after nineteen answers of the model, and their mean after twenty', async () => {
    const place = await opened()
    const next = batch(promptLines(3), { idempotencyKey: 'next' })
    await place.run(batch(promptLines(19)))
    expect(await place.engine.estimate(next)).toMatchObject({ basis: 'guess' })
    await place.run(batch(promptLines(1)))
    expect(await place.engine.estimate(next)).toMatchObject({ basis: 'history' })
  })

  test('is, by history, within a quarter of what a batch then spends', async () => {
    const place = await opened()
    await place.run(batch(promptLines(40)))
    const next = batch(promptLines(100), { model: 'offline-small', labels: { next: 'true' } })
    const { basis, total } = await place.engine.estimate(next)
    const { budget, jobId } = await place.run(next)
    expect(basis).toBe('history')
    expect(budget.callsMade, jobId).toBe(100)
    expect(distance(total.costUsd.expected, budget.spentCostUsd)).toBeLessThan(0.25)
  })

  test('is, where the job type tells it, that and no mean, and never above the longest answer', async () => {
    const place = await opened([calling(call({ outputTokens: 40 }), call({ outputTokens: 400 }))])
    await place.run(batch(promptLines(30)))
    expect(await place.engine.estimate(foreseen())).toMatchObject({
      basis: 'definition',
      total: { outputTokens: { expected: 140, worst: 200 } },
    })
  })

  test('is as certain as the least certain call', async () => {
    const { engine } = await opened([calling(call({ outputTokens: 40 }), call())])
    expect(await engine.estimate(foreseen())).toMatchObject({ basis: 'guess' })
  })

  test('does not drift by rounding means call by call', async () => {
    const { engine } = await opened([calling(...Array.from({ length: 1_000 }, () => call({ outputTokens: 0.4 })))])
    const { total } = await engine.estimate(foreseen())
    expect(total.outputTokens.expected).toBe(400)
    expect(distance(total.costUsd.expected, '0.0043' as Usd)).toBeLessThan(0.25)
  })

  test('takes the time of the calls by concurrency, and at worst that of their timeouts', async () => {
    const { engine } = await opened([calling(...Array.from({ length: 8 }, () => call({ outputTokens: 50 })))])
    const { stages, total } = await engine.estimate(foreseen({ concurrency: 2 }))
    expect(stages.map(({ seconds }) => seconds)).toEqual([{ expected: 0, worst: 0 }, { expected: 12, worst: 2_400 }])
    expect(total.seconds).toEqual(stages[1]?.seconds)
  })

  test('waits for the limits of the provider', async () => {
    const { engine } = await opened([calling(...Array.from({ length: 21 }, () => call({ outputTokens: 50 })))])
    const { total } = await engine.estimate(foreseen({ concurrency: 21, rateLimits: { offline: { requestsPerMinute: 10 } } }))
    expect(total.seconds.expected).toBe(120)
  })
})

describe('a job type that foresees its calls', () => {
  test('reads the submitted files from memory, and nothing is written', async () => {
    const read: string[] = []
    const definition = foreseeing(async function* (input, { read: contentOf, model, target, parameters }) {
      for (const ref of z.array(z.object({ sha256: z.string(), bytes: z.number(), mediaType: z.string() })).parse(input)) {
        read.push(new TextDecoder().decode(await contentOf(ref)))
      }
      yield call({ examples: target ?? 0, request: { model: model ?? '', maxOutputTokens: Number(parameters['tokens']) } })
    })
    const world = heldWorld(definition, heldProvider().provider)
    const { engine } = world.open()
    const before = await world.events.head()
    const submission = world.submission({ type: 'foreseeing', input: undefined, files: [{ name: 'a', content: bytes('one') }], target: 7, parameters: { tokens: 3 } })
    expect((await engine.estimate(submission)).total).toMatchObject({ calls: 1, examples: 7, outputTokens: { worst: 3 } })
    expect(read).toEqual(['one'])
    expect(await world.events.head()).toBe(before)
    expect(await world.artifacts.list('default')).toEqual([])
  })

  test('has its worst case shown with the job that is submitted with it', async () => {
    const place = await opened([calling(call())])
    const { total } = await place.engine.estimate(foreseen())
    expect(await place.engine.submit(foreseen({ idempotencyKey: 'a' }))).toMatchObject({ estimatedCostUsd: null })
    const told = foreseen({ estimatedCostUsd: total.costUsd.worst })
    expect(await place.engine.submit(told)).toMatchObject({ estimatedCostUsd: total.costUsd.worst })
    expect(total.costUsd.worst).not.toBeNull()
  })

  test.each([
    ['that its stages would fail with', foreseeing(() => { throw new InvalidInputError('page 3 is empty') }), /page 3 is empty/],
    ['of a stage that it does not have', calling(call({ stage: 'nowhere' })), /"nowhere"/],
    ['of a model without a price', calling(call({ request: { model: 'dear' } })), /model "dear" of provider offline has no price/],
  ])('raises what it foresees %s', async (_, definition, message) => {
    const { engine } = await opened([definition])
    await expect(engine.estimate(foreseen())).rejects.toThrow(message)
  })

  test('is not taken for one that tells nothing', async () => {
    const [none, untold] = [await opened([calling()]), await opened([foreseeing(undefined)])]
    expect(await none.engine.estimate(foreseen())).toMatchObject({ foreseen: true, total: { calls: 0, costUsd: { worst: '0' } } })
    expect(await untold.engine.estimate(foreseen())).toMatchObject({ foreseen: false })
    expect(await untold.engine.estimate(foreseen({ provider: null, model: null }))).toMatchObject({ foreseen: true })
  })
})

describe('limits', () => {
  const told = calling(...Array.from({ length: 4 }, () => call({ outputTokens: 50, examples: 2 })))
  const guessed = calling(...Array.from({ length: 4 }, () => call({ examples: 2 })))
  const overOf = async (definition: JobDefinition, limits: GivenLimits) => {
    const { engine } = await opened([definition])
    const { exceeds, mayExceed } = await engine.estimate(foreseen({ limits }))
    const named = (over: Estimate['exceeds']) => over.map(({ limit, value, maximum }) => [limit, value, maximum])
    return { exceeds: named(exceeds), mayExceed: named(mayExceed) }
  }

  test.each([
    ['calls', { maximumCalls: 3 }, ['maximumCalls', 4, 3]],
    ['examples', { maximumExamples: 7 }, ['maximumExamples', 8, 7]],
  ])('of %s are exceeded by counting alone, and not by what fits exactly', async (_, limits, over) => {
    expect(await overOf(guessed, limits)).toEqual({ exceeds: [over], mayExceed: [] })
    expect(await overOf(guessed, { maximumCalls: 4, maximumExamples: 8 })).toEqual({ exceeds: [], mayExceed: [] })
  })

  test.each([
    ['cost', { maximumCostUsd: '0.00041' }, ['maximumCostUsd', '0.000414', '0.00041']],
    ['input tokens', { maximumInputTokens: 27 }, ['maximumInputTokens', 28, 27]],
    ['output tokens', { maximumOutputTokens: 199 }, ['maximumOutputTokens', 200, 199]],
  ])('of %s are exceeded by what the job type tells, and by a guess only perhaps', async (_, limits, over) => {
    expect(await overOf(told, limits)).toEqual({ exceeds: [over], mayExceed: [] })
    const [[limit, , maximum]] = [over]
    expect(await overOf(guessed, limits)).toEqual({ exceeds: [], mayExceed: [[limit, expect.anything(), maximum]] })
  })

  test('of time are exceeded perhaps', async () => {
    expect(await overOf(told, { maximumDurationSeconds: 2 })).toEqual({ exceeds: [], mayExceed: [['maximumDurationSeconds', 3, 2]] })
  })

  test('that are the defaults stand in the estimate', async () => {
    const { engine } = await opened()
    expect((await engine.estimate(batch(promptLines(1)))).limits).toMatchObject({ maximumCostUsd: '50', maximumCalls: 10_000 })
  })
})

test('the estimate says which job it is of, and whether that is there already', async () => {
  const place = await opened()
  const submission = batch(promptLines(2))
  const before = await place.engine.estimate(submission)
  expect(before.existing).toBe(false)
  expect(await place.engine.find(submission)).toBeNull()
  const { jobId } = await place.engine.submit(submission)
  expect(await place.engine.estimate(submission)).toEqual({ ...before, existing: true, jobId })
  expect(await place.engine.find(submission)).toMatchObject({ jobId, existing: true, state: 'queued' })
})

test('the estimate is plain JSON', async () => {
  const { engine } = await opened()
  const estimate = await engine.estimate(batch(promptLines(2)))
  expect(JSON.parse(JSON.stringify(estimate))).toEqual(estimate)
})

test('a job type that takes a value and tells nothing is estimated as one', async () => {
  const world = heldWorld(asks('a'), heldProvider().provider)
  expect(await world.open().engine.estimate(world.submission())).toMatchObject({ foreseen: false, stages: [{ stage: 'only', calls: 0 }] })
})
