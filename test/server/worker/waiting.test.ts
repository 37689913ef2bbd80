import { expect, test } from 'vitest'
import { asks, jobThat } from '../../support/heldPlace.ts'
import { beginJob } from './beginJob.ts'

const question = { messages: [{ role: 'user' as const, content: 'why?' }], maxOutputTokens: 10 }

test('calls held back by the minute, one after the other, give the job back and are sent a minute apart', async () => {
  const job = await beginJob(asks('a', 'b', 'c'), { submission: { rateLimits: { held: { requestsPerMinute: 1 } } } })
  for (const sent of [1, 2, 3]) {
    expect(job.sends).toHaveLength(sent)
    job.sends[sent - 1]?.answer()
    await job.clock.advance(1_000)
    if (sent < 3) expect(await job.status()).toMatchObject({ state: 'retry_wait', leaseOwner: null, attemptCount: 0 })
    await job.clock.advance(60_000)
  }
  expect((await job.status()).state).toBe('succeeded')
  await job.end()
})

test('calls that queue behind one the minute holds back do not keep the job from being given back', async () => {
  const job = await beginJob(
    jobThat((ctx) => Promise.all(['a', 'b', 'c', 'd'].map((key) => ctx.call({ key, ...question })))),
    { submission: { concurrency: 1 }, place: { providerLimits: () => ({ requestsPerMinute: 1 }) } },
  )
  job.sends[0]?.answer()
  await job.clock.advance(1_000)
  expect((await job.status()).state).toBe('retry_wait')
  await job.end()
})

test('a wall clock that was set back does not hold calls back for as long', async () => {
  const job = await beginJob(asks('a', 'b'), { submission: { concurrency: 1, rateLimits: { held: { requestsPerMinute: 1 } } } })
  job.clock.setWall(job.clock.now() - 3_600_000)
  job.sends[0]?.answer()
  await job.clock.advance(1_000)
  expect((await job.status()).state).toBe('retry_wait')
  await job.clock.advance(125_000)
  expect(job.sends).toHaveLength(2)
  await job.end()
})

test('a job whose calls wait for those of other jobs says so', async () => {
  const job = await beginJob(asks('a'), { place: { providerLimits: () => ({ maximumConcurrency: 1 }) }, work: { slots: 2 } })
  const other = await job.engine.submit(job.submission({ idempotencyKey: 'other' }))
  await job.clock.advance(25_000)
  expect(await job.engine.status(other.jobId)).toMatchObject({ state: 'running', waitingFor: { reason: 'concurrency', until: null } })
  job.sends[0]?.answer()
  await job.clock.advance(500)
  expect(await job.engine.status(other.jobId)).toMatchObject({ state: 'running', waitingFor: null })
  job.sends[1]?.answer()
  await job.end()
})

test('the same key recorded twice at the same time is recorded once', async () => {
  const job = await beginJob(
    jobThat(async (ctx) => {
      await Promise.all([ctx.checkpoint('a', 1), ctx.checkpoint('a', 2), ctx.accept('b', [1, 2]), ctx.accept('b', [3])])
      await Promise.all([ctx.checkpoint('c', 1), ctx.checkpoint('a', 3), ctx.accept('b', [4])])
    }),
  )
  expect(await job.status()).toMatchObject({ state: 'succeeded', budget: { examplesProduced: 2 } })
  expect(await job.dataOf(job.jobId, 'CheckpointRecorded')).toMatchObject([
    { key: 'a', value: { json: 1 } },
    { key: 'c', value: { json: 1 } },
  ])
  await job.end()
})

test.each([
  ['no tokens', { maxOutputTokens: 0 }],
  ['fewer than no tokens', { maxOutputTokens: -10 }],
  ['no choices', { choices: 0 }],
  ['half an example', { examples: 0.5 }],
])('a call for %s is refused before anything is set aside for it', async (_, odd) => {
  const job = await beginJob(jobThat((ctx) => ctx.call({ key: 'a', ...question, ...odd })))
  expect(job.sends).toEqual([])
  expect(await job.status()).toMatchObject({ state: 'failed', errorCode: 'invalid_input', budget: { callsMade: 0 } })
  await job.end()
})

test('a stage that listens to one of its calls only takes nobody with it when the job is to stop', async () => {
  const heard: unknown[] = []
  const hear = (error: unknown): void => void heard.push(error)
  process.on('unhandledRejection', hear)
  const job = await beginJob(
    jobThat(async (ctx) => {
      const calls = ['a', 'b', 'c'].map((key) => ctx.call({ key, ...question }))
      for (const call of calls) await call
    }),
    { submission: { concurrency: 1 } },
  )
  await job.engine.pause(job.jobId)
  await job.clock.advance(500)
  job.sends[0]?.fail({ kind: 'invalid_input' })
  await job.clock.advance(500)
  process.off('unhandledRejection', hear)
  expect(heard).toEqual([])
  expect((await job.status()).state).toBe('paused')
  await job.end()
})
