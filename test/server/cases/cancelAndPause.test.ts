import { expect, test } from 'vitest'
import { JobStateError } from '../../../domain/errors.ts'
import { randomFrom } from '../../contract/seededRandom.ts'
import { batchLines } from '../../support/batchFiles.ts'
import { until } from '../../support/until.ts'
import { answersAfter, batchOf } from '../../support/workplaceOn.ts'
import { eventTypes, inBackground, inState, soundFindings } from './background.ts'

const seed = 3_323

const passed = async (ms: number): Promise<void> => {
  const since = performance.now()
  await until(`${ms} ms to pass`, () => performance.now() - since >= ms, { everyMs: 1 })
}

test.each([
  ['memory', 200],
  ['sqlite', 40],
] as const)(`O-19, seed ${seed}: in a %s store each of %i jobs that is cancelled within 50 ms ends as the answer said`, async (store, rounds) => {
  const { provider, open, work } = await inBackground(answersAfter(20), store)
  const place = await open()
  work(place, { slots: 2 })
  const drawn = randomFrom(seed)
  const counts = { cancelled: 0, beforeRunning: 0, tooLate: 0 }
  const quiet: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    const { jobId } = await place.engine.submit(batchOf(batchLines(1, `round ${round}`), provider.baseUrl))
    // Every fourth at once: the cancel and the claim meet.
    await passed(drawn.below(4) === 0 ? 0 : drawn.below(51))
    const answered = await place.engine.cancel(jobId).catch((error: unknown) => error)
    if (answered instanceof Error) {
      expect(answered).toBeInstanceOf(JobStateError)
      expect((await place.engine.status(jobId)).state).toBe('succeeded')
      counts.tooLate += 1
      continue
    }
    await inState(place, jobId, 'cancelled')
    counts.cancelled += 1
    const types = await eventTypes(place, jobId)
    expect(types.filter((type) => /^Job(Succeeded|Failed|Cancelled)$/.test(type))).toEqual(['JobCancelled'])
    expect(types.at(-1)).toBe('JobCancelled')
    const before = types.slice(0, types.findIndex((type) => type === 'CancellationRequested'))
    if (!before.includes('JobStarted')) {
      counts.beforeRunning += 1
      quiet.push(`round ${round} number`)
    }
    const job = await place.engine.cancel(jobId)
    expect(job).toMatchObject({ state: 'cancelled', budget: { reservedCostUsd: '0' } })
    expect((await eventTypes(place, jobId)).length).toBe(types.length)
  }
  const prompts = (await provider.calls()).map((call) => call.prompt)
  expect(quiet.filter((each) => prompts.some((prompt) => prompt.startsWith(each)))).toEqual([])
  expect(await soundFindings(place)).toEqual([])
  console.log(`O-19 (${store}): ${JSON.stringify(counts)}`)
  expect(counts.beforeRunning).toBeGreaterThan(0)
}, 60_000)

test('O-19: a job that is cancelled while it is paused or waits for its next try is cancelled at once and stays so', async () => {
  const { provider, open, work } = await inBackground(
    answersAfter(5, { rules: [{ when: { promptIncludes: 'busy' }, answer: { status: 429, headers: { 'retry-after': '30' } } }] }),
  )
  const place = await open()
  const paused = await place.engine.submit(batchOf(batchLines(1, 'paused'), provider.baseUrl))
  await place.engine.pause(paused.jobId)
  const waiting = await place.engine.submit(batchOf(batchLines(1, 'busy'), provider.baseUrl))
  work(place)
  await inState(place, waiting.jobId, 'retry_wait')
  for (const { jobId } of [paused, waiting]) {
    expect(await place.engine.cancel(jobId)).toMatchObject({ state: 'cancelled', budget: { reservedCostUsd: '0' } })
    const { length } = await eventTypes(place, jobId)
    expect(await place.engine.cancel(jobId)).toMatchObject({ state: 'cancelled' })
    expect((await eventTypes(place, jobId)).length).toBe(length)
  }
  // Whatever the worker does next comes behind a job that it has worked to its end.
  const last = await place.engine.submit(batchOf(batchLines(1, 'last'), provider.baseUrl))
  await inState(place, last.jobId, 'succeeded')
  expect((await provider.calls()).map((call) => call.prompt)).toEqual(['busy number 0.', 'last number 0.'])
  expect(await soundFindings(place)).toEqual([])
})

test('O-20: a pause during a call lets it end and be paid once, and the resume goes on with the next', async () => {
  const { provider, open, work } = await inBackground(answersAfter(300))
  const place = await open()
  work(place)
  const { jobId } = await place.engine.submit(batchOf(batchLines(5), provider.baseUrl, { concurrency: 1 }))
  await until('call 2', async () => (await provider.calls()).length === 2)
  await place.engine.pause(jobId)
  const { length } = (await eventTypes(place, jobId)).filter((type) => type === 'PauseRequested')
  await place.engine.pause(jobId)
  await inState(place, jobId, 'paused')
  expect(length).toBe(1)
  expect((await eventTypes(place, jobId)).filter((type) => type === 'PauseRequested').length).toBe(1)
  expect((await provider.calls()).map((call) => call.answeredAt === null)).toEqual([false, false])
  expect(await place.engine.status(jobId)).toMatchObject({
    budget: { spentCostUsd: '0.16', heldCostUsd: '0', reservedCostUsd: '0', callsMade: 2 },
    attemptCount: 0,
    leaseOwner: null,
  })
  // The worker is free meanwhile, and still starts no call of the paused job.
  const other = await place.engine.submit(batchOf(batchLines(1, 'other'), provider.baseUrl))
  await inState(place, other.jobId, 'succeeded')
  expect((await provider.calls()).length).toBe(3)
  await place.engine.resume(jobId)
  await inState(place, jobId, 'succeeded')
  const own = (await provider.calls()).filter((call) => call.idempotencyKey?.startsWith(jobId))
  expect(own.map((call) => call.prompt.replace(/\D/g, ''))).toEqual(['0', '1', '2', '3', '4'])
  expect((await eventTypes(place, jobId)).filter((type) => /Failed|Retry|Orphaned/.test(type))).toEqual([])
  expect(await soundFindings(place)).toEqual([])
})

test('OX-21: a job with a single try that is paused, resumed and then refused for good fails with the reason within two seconds', async () => {
  const { provider, open, work } = await inBackground(
    answersAfter(150, { rules: [{ when: { callsFrom: 2 }, answer: { status: 401 } }] }),
  )
  const place = await open()
  work(place)
  const { jobId } = await place.engine.submit(
    batchOf(batchLines(3), provider.baseUrl, { concurrency: 1, maxAttempts: 1, callAttempts: 1 }),
  )
  await until('call 1', async () => (await provider.calls()).length === 1)
  await place.engine.pause(jobId)
  await inState(place, jobId, 'paused')
  await place.engine.resume(jobId)
  const resumedAt = performance.now()
  const job = await inState(place, jobId, 'failed')
  expect(performance.now() - resumedAt).toBeLessThan(2_000)
  expect(job).toMatchObject({ errorCode: 'provider_auth', budget: { reservedCostUsd: '0', heldCostUsd: '0', spentCostUsd: '0.08' } })
  expect((await provider.calls()).length).toBe(2)
  expect(await soundFindings(place)).toEqual([])
})
