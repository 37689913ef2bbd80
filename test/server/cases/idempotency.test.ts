import { expect, test } from 'vitest'
import { IdempotencyConflictError } from '../../../domain/errors.ts'
import type { Submission } from '../../../server/engine.ts'
import { gatedJob, gatedJobModule, holdStep, letGo } from '../../support/processesGates.ts'
import { temporaryFolder } from '../../contract/temporaryFolder.ts'
import { batchLines } from '../../support/batchFiles.ts'
import { answersAfter, batchOf, type OpenPlace } from '../../support/workplaceOn.ts'
import { eventTypes, inBackground, inState, soundFindings } from './background.ts'

const key = 'K'

/** The same job with its configuration written otherwise, and one that is another. */
const wordings = (baseUrl: string, over: Partial<Submission> = {}) => {
  const parameters = { maxOutputTokens: 100, temperature: 0.5, seed: 7 }
  const reordered = { seed: 7, temperature: 0.5, maxOutputTokens: 100 }
  const same = batchOf(batchLines(2), baseUrl, { idempotencyKey: key, callAttempts: 1, ...over, parameters })
  return { same, alike: { ...same, parameters: reordered }, other: { ...same, parameters: { ...parameters, seed: 8 } } }
}

const phases = {
  queued: async () => {},
  paused: ({ engine }: OpenPlace, jobId: string) => engine.pause(jobId),
  cancelled: ({ engine }: OpenPlace, jobId: string) => engine.cancel(jobId),
} as const

const expectRules = async (place: OpenPlace, words: ReturnType<typeof wordings>, jobId: string): Promise<void> => {
  const { state } = await place.engine.status(jobId)
  const before = await eventTypes(place, jobId)
  for (const submission of [words.same, words.alike]) {
    expect(await place.engine.submit(submission)).toMatchObject({ jobId, existing: true, state })
  }
  const refused = await place.engine.submit(words.other).catch((error: unknown) => error)
  expect(refused).toBeInstanceOf(IdempotencyConflictError)
  expect(refused).toMatchObject({ code: 'idempotency_conflict', message: expect.stringContaining(jobId) })
  expect(await eventTypes(place, jobId)).toEqual(before)
  expect((await place.engine.list({})).items.length).toBe(1)
}

test.each(Object.entries(phases))(
  'O-12: a key belongs to its first configuration while the job is %s, and after a restart',
  async (state, reach) => {
    const { provider, open } = await inBackground(answersAfter(5), 'sqlite')
    const place = await open()
    const words = wordings(provider.baseUrl)
    const { jobId } = await place.engine.submit(words.same)
    await reach(place, jobId)
    expect((await place.engine.status(jobId)).state).toBe(state)
    await expectRules(place, words, jobId)
    const reopened = await open()
    await expectRules(reopened, words, jobId)
    expect(await soundFindings(reopened)).toEqual([])
  },
)

test.each([
  ['running', { delayMs: 800 }],
  ['retry_wait', { status: 429, headers: { 'retry-after': '30' } }],
  ['failed', { status: 401 }],
  ['succeeded', {}],
] as const)('O-12: a key belongs to its first configuration while the job is %s, and after a restart', async (state, answer) => {
  const { provider, open, work } = await inBackground({ ...answersAfter(5), rules: [{ answer }] }, 'sqlite')
  const place = await open()
  const words = wordings(provider.baseUrl)
  const { jobId } = await place.engine.submit(words.same)
  const end = work(place)
  await inState(place, jobId, state)
  await expectRules(place, words, jobId)
  if (state === 'running') await inState(place, jobId, 'succeeded')
  await end()
  const reopened = await open()
  await expectRules(reopened, words, jobId)
  expect(await soundFindings(reopened)).toEqual([])
})

test('O-12: racing submits of one key make one job, and each of another configuration is refused', async () => {
  const { provider, open } = await inBackground(answersAfter(5), 'sqlite')
  const places = [await open(), await open()]
  const words = wordings(provider.baseUrl)
  const answers = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) => places[index % 2]!.engine.submit(index % 4 < 2 ? words.same : words.other)),
  )
  const created = answers.flatMap((answer) => (answer.status === 'fulfilled' && !answer.value.existing ? [answer.value] : []))
  const refused = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as unknown] : []))
  expect(created.length).toBe(1)
  expect(refused.length).toBe(10)
  for (const each of refused) expect(each).toBeInstanceOf(IdempotencyConflictError)
  expect((await places[0]!.engine.list({})).items.length).toBe(1)
})

test('O-12: an input that differs only in the order of its fields is the same input', async () => {
  const { provider, open } = await inBackground(answersAfter(5))
  const { default: definition } = (await import(gatedJobModule)) as { default: never }
  const place = await open({ definitions: [definition] })
  const folder = await temporaryFolder()
  const first = gatedJob({ folder: folder.path, calls: 1, checkpointBytes: 64 }, provider.baseUrl, { idempotencyKey: key })
  const again = { ...first, input: { checkpointBytes: 64, calls: 1, folder: folder.path } }
  const { jobId } = await place.engine.submit(first)
  expect(await place.engine.submit(again)).toMatchObject({ jobId, existing: true })
  await expect(place.engine.submit({ ...first, input: { ...again.input, calls: 2 } })).rejects.toMatchObject({
    code: 'idempotency_conflict',
  })
  await folder.remove()
})

test('OX-19: a key whose job has failed answers with the failed job and never as a success, until it is retried', async () => {
  const { provider, open, work } = await inBackground(answersAfter(5, { rules: [{ answer: { status: 401 }, times: 1 }] }))
  const place = await open()
  work(place)
  const submission = batchOf(batchLines(1), provider.baseUrl, { idempotencyKey: key })
  const { jobId } = await place.engine.submit(submission)
  await inState(place, jobId, 'failed')
  expect(await place.engine.submit(submission)).toMatchObject({
    jobId,
    existing: true,
    state: 'failed',
    errorCode: 'provider_auth',
  })
  expect((await provider.calls()).length).toBe(1)
  await place.engine.retry(jobId)
  await inState(place, jobId, 'succeeded')
  expect(await place.engine.submit(submission)).toMatchObject({ jobId, existing: true, state: 'succeeded' })
  expect((await provider.calls()).length).toBe(2)
})

test('O-12: a job that is only leased keeps its key to its configuration', async () => {
  const { provider, open, work } = await inBackground(answersAfter(5))
  const { default: definition } = (await import(gatedJobModule)) as { default: never }
  const place = await open({ definitions: [definition] })
  const folder = await temporaryFolder()
  await holdStep(folder.path, 'call-0')
  const first = gatedJob({ folder: folder.path, calls: 1 }, provider.baseUrl, { idempotencyKey: key })
  const { jobId } = await place.engine.submit(first)
  work(place)
  await inState(place, jobId, 'leased', 'running')
  expect(await place.engine.submit(first)).toMatchObject({ jobId, existing: true })
  await letGo(folder.path, 'call-0')
  await inState(place, jobId, 'succeeded')
  await folder.remove()
})
