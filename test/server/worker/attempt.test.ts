import { expect, test } from 'vitest'
import { StoreUnavailable } from '../../../domain/errors.ts'
import { asks, jobThat } from '../../support/heldPlace.ts'
import { settled } from '../../support/manualClock.ts'
import { beginJob } from './beginJob.ts'

const question = { messages: [{ role: 'user' as const, content: 'why?' }], maxOutputTokens: 10 }

test('a job whose prices cannot be read for minutes keeps its lease, and goes on when they can', async () => {
  const job = await beginJob(asks('a'), { submission: { startAfter: '2026-01-01T00:00:10Z' } })
  const { get } = job.artifacts
  job.artifacts.get = () => Promise.reject(new StoreUnavailable('the store of artifacts is away'))
  const other = job.open()
  const stop = new AbortController()
  const working = other.work({ slots: 1, leaseMs: 60_000 }, stop.signal)
  await job.clock.advance(300_000)
  expect(await job.status()).toMatchObject({ state: 'running', lostLeaseCount: 0, leaseToken: 1 })
  job.artifacts.get = get
  await job.clock.advance(10_000)
  job.sends[0]?.answer()
  await job.clock.advance(1_000)
  expect((await job.status()).state).toBe('succeeded')
  stop.abort()
  await job.end()
  await working
})

test('a stage that failed sends none of its other calls any more, and those under way are booked', async () => {
  const job = await beginJob(
    jobThat((ctx) => Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((key) => ctx.call({ key, ...question })))),
    { submission: { concurrency: 2 } },
  )
  expect(job.sends).toHaveLength(2)
  const { append } = job.events
  // As long as on any real store, so that the stage hears of the failure before the next reservation has landed.
  job.events.append = async (...given) => {
    await settled()
    return append(...given)
  }
  job.sends[0]?.fail({ code: 'policy_block', kind: 'policy_block' })
  await job.clock.advance(1_000)
  job.sends[1]?.answer()
  await job.clock.advance(1_000)
  expect(job.sends).toHaveLength(2)
  expect(await job.status()).toMatchObject({ state: 'failed', errorCode: 'policy_block', budget: { spentCostUsd: '1' } })
  await job.end()
})

test('an adapter that heeds neither deadline nor signal holds up neither its job nor the drain', async () => {
  const deaf = { complete: () => new Promise<never>(() => {}) }
  const slow = await beginJob(asks('a'), { provider: deaf, place: { callTimeoutMs: 5_000 } })
  await slow.clock.advance(5_000)
  expect((await slow.types()).slice(3, 5)).toEqual(['ProviderCallReserved', 'ProviderCallFailed'])
  await slow.end()

  const drained = await beginJob(asks('a'), { provider: deaf })
  drained.stop.abort()
  await drained.clock.advance(30_000)
  await drained.working
  expect(await drained.status()).toMatchObject({ state: 'queued', budget: { heldCostUsd: '1', reservedCostUsd: '0' } })
})

test('an answer that no adapter may give is held, and nobody waits for it', async () => {
  const job = await beginJob(asks('a', 'b'), {
    submission: { limits: { maximumCalls: 1 }, callAttempts: 1, maxAttempts: 1 },
    provider: { complete: async () => ({ text: 7 as never, finishReason: null, usage: null }) },
  })
  await job.clock.advance(1_000)
  expect(await job.status()).toMatchObject({ state: 'paused', budget: { heldCostUsd: '1', reservedCostUsd: '0' } })
  await job.end()
})

test('a pause that is taken back before it begins does not pause the job', async () => {
  const job = await beginJob(asks('a', 'b'), { submission: { concurrency: 1 } })
  const { append } = job.events
  let isHeld = true
  const waiting: (() => void)[] = []
  job.events.append = async (stream, events, expected) => {
    const isPausing = events.some((event) => event.type === 'JobPausing')
    if (isPausing && isHeld) await new Promise<void>((resolve) => waiting.push(resolve))
    return append(stream, events, expected)
  }
  await job.engine.pause(job.jobId)
  await job.clock.advance(500)
  expect(waiting).toHaveLength(1)
  await job.engine.resume(job.jobId)
  isHeld = false
  waiting[0]?.()
  await job.clock.advance(500)
  job.sends[0]?.answer()
  await job.clock.advance(1_000)
  job.sends[1]?.answer()
  await job.clock.advance(1_000)
  expect(await job.status()).toMatchObject({ state: 'succeeded', budget: { callsMade: 2 } })
  expect(await job.types()).not.toContain('JobPaused')
  await job.end()
})

test('what comes too late for a job that has ended here is no lost lease', async () => {
  const job = await beginJob(asks('a'))
  const { append } = job.events
  job.events.append = async (stream, events, expected) => {
    await append(stream, events, expected)
    // While the end is being acknowledged the lease would have been due.
    if (events.some((event) => event.type === 'JobSucceeded')) await job.clock.advance(30_000)
  }
  job.sends[0]?.answer()
  await settled()
  await job.clock.advance(60_000)
  expect((await job.status()).state).toBe('succeeded')
  expect(job.log).toEqual([])
  await job.end()
})

test('a worker told to end while it claims, and whose store is away then, ends within its deadline', async () => {
  const job = await beginJob(asks('a'), { submission: { startAfter: '2026-01-01T00:00:10Z' } })
  const { append, readStream } = job.events
  job.events.append = async (stream, events, expected) => {
    await append(stream, events, expected)
    if (!events.some((event) => event.type === 'JobLeased')) return
    job.stop.abort()
    job.events.readStream = () => Promise.reject(new StoreUnavailable('away'))
  }
  await job.clock.advance(45_000)
  await job.working
  job.events.readStream = readStream
  expect(await job.types()).toContain('JobLeased')
})

test('a raised limit lets a call go on that waits for room, without another call having to end', async () => {
  const job = await beginJob(asks('a', 'b'), { submission: { limits: { maximumCalls: 1 } } })
  expect(job.sends).toHaveLength(1)
  await job.engine.raiseBudget(job.jobId, { maximumCalls: 2 })
  await job.clock.advance(500)
  expect(job.sends).toHaveLength(2)
  await job.end()
})

test('a call refused for the budget in the very append that ends the last open call is tried again', async () => {
  const prices = { inputPerMTok: '0', cachedInputPerMTok: '0', outputPerMTok: '100000' }
  const profile = { id: 'tokens', effectiveFrom: '2026-01-01', provider: 'held', models: { m: prices } }
  let ask: () => void = () => {}
  const asked = new Promise<void>((resolve) => (ask = resolve))
  const job = await beginJob(
    jobThat((ctx) => Promise.all([ctx.call({ key: 'a', ...question }), asked.then(() => ctx.call({ key: 'b', ...question }))])),
    // Ten tokens at worst are a dollar; one is ten cents.
    { submission: { priceProfiles: [profile], limits: { maximumCostUsd: '1.2' } } },
  )
  const { append } = job.events
  let release: () => void = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  job.events.append = async (stream, events, expected) => {
    if (events.some((event) => event.type === 'LeaseRenewed')) await held
    return append(stream, events, expected)
  }
  // While a renewal is on its way, the second call is asked for and then the first is answered.
  await job.clock.advance(20_000)
  ask()
  await settled()
  job.sends[0]?.answer()
  await settled()
  release()
  await job.clock.advance(500)
  expect(job.sends).toHaveLength(2)
  job.sends[1]?.answer()
  await job.clock.advance(500)
  expect(await job.status()).toMatchObject({ state: 'succeeded', budget: { spentCostUsd: '0.2' } })
  await job.end()
})

test('examples wait for the calls that have set some aside, and pause the job only when none is left', async () => {
  let look: () => void = () => {}
  const looked = new Promise<void>((resolve) => (look = resolve))
  const job = await beginJob(
    jobThat((ctx) =>
      Promise.all(
        ['a', 'b', 'c'].map(async (key) => {
          await ctx.call({ key, ...question, examples: 3 })
          if (key === 'a') await looked
          await ctx.accept(key, [1, 2, 3])
        }),
      ),
    ),
    { submission: { limits: { maximumExamples: 6 } } },
  )
  expect(job.sends).toHaveLength(2)
  job.sends[0]?.answer()
  await job.clock.advance(500)
  // The third call has taken what the first one had set aside.
  expect(job.sends).toHaveLength(3)
  look()
  await job.clock.advance(500)
  expect(await job.status()).toMatchObject({ state: 'running', budget: { examplesProduced: 0 } })
  for (const send of job.sends) send.answer()
  await job.clock.advance(500)
  expect(await job.status()).toMatchObject({
    state: 'paused',
    errorSummary: 'maximumExamples has no room for the next call',
    budget: { examplesProduced: 6, callsMade: 3 },
  })
  await job.engine.resume(job.jobId, { maximumExamples: 9 })
  await job.clock.advance(1_000)
  expect(await job.status()).toMatchObject({ state: 'succeeded', budget: { examplesProduced: 9, callsMade: 3 } })
  await job.end()
})

test('a key that was taken over and is still at work is waited for without using up a try', async () => {
  const job = await beginJob(asks('a'), {
    provider: { replaysForSeconds: 3_600 },
    submission: { callAttempts: 2, maxAttempts: 1 },
  })
  job.sends[0]?.fail({ billed: 'unknown' })
  for (let tries = 1; tries <= 6; tries += 1) {
    await job.clock.advance(70_000)
    expect(job.sends).toHaveLength(tries + 1)
    if (tries < 6) job.sends[tries]?.fail({ code: 'in_progress', status: 409, billed: 'unknown' })
  }
  job.sends.at(-1)?.answer()
  await job.clock.advance(1_000)
  expect(await job.status()).toMatchObject({ state: 'succeeded', budget: { spentCostUsd: '1', heldCostUsd: '0' } })
  expect(new Set(job.sends.map((send) => send.idempotencyKey)).size).toBe(1)
  await job.end()
})

test.each([
  ['no code', '', 'unnamed'],
  ['a code as long as a letter', 'c'.repeat(5_000), `${'c'.repeat(199)}…`],
])('an adapter that gives %s for its failure fails the call, and the job says so', async (_, code, shown) => {
  const job = await beginJob(asks('a'))
  job.sends[0]?.fail({ code, kind: 'invalid_input', status: Number.NaN })
  await job.clock.advance(1_000)
  expect(await job.status()).toMatchObject({ state: 'failed', errorCode: shown, budget: { heldCostUsd: '0' } })
  await job.end()
})
