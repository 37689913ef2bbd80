import { expect, test } from 'vitest'
import { asks, jobThat } from '../../support/heldPlace.ts'
import { settled } from '../../support/manualClock.ts'
import { beginJob } from './beginJob.ts'

const question = { messages: [{ role: 'user' as const, content: 'why?' }], maxOutputTokens: 10 }

test('an event that could not be read again is refused alone, and what was recorded beside it stands', async () => {
  let refused: unknown = null
  const job = await beginJob(
    jobThat(async (ctx) => {
      const [answer] = await Promise.all([
        ctx.call({ key: 'a', ...question }),
        ctx.checkpoint('first', 1),
        ctx.checkpoint('k'.repeat(501), 2).catch((error: unknown) => (refused = error)),
        ctx.checkpoint('p'.repeat(1_200_000), 3).catch(() => {}),
        ctx.checkpoint('last', 4),
      ])
      return answer.text
    }),
  )
  job.sends[0]?.answer()
  await job.clock.advance(500)
  expect(refused).toMatchObject({ code: 'invalid_input', details: { type: 'CheckpointRecorded', path: 'key' } })
  expect((await job.types()).filter((type) => type === 'CheckpointRecorded')).toHaveLength(2)
  expect(await job.status()).toMatchObject({ state: 'succeeded', budget: { spentCostUsd: '1', heldCostUsd: '0' } })
  expect((await job.engine.audit(job.jobId)).findings).toEqual([])
  await job.end()
})

test.each([
  ['a progress that is no whole number', { done: 0.5, total: null, unit: 'lines' }],
  ['a progress below nothing', { done: -1, total: null, unit: 'lines' }],
])('a stage that says %s fails its job as invalid input, and the job stays readable', async (_, progress) => {
  const job = await beginJob(
    jobThat(async (ctx) => {
      ctx.progress(progress)
      await ctx.checkpoint('a', 1)
    }),
  )
  expect(await job.status()).toMatchObject({ state: 'failed', errorCode: 'invalid_input', attemptCount: 1 })
  await job.end()
})

test('a lease that is lost behind the last stage ends the attempt quietly, and the worker goes on', async () => {
  const heard: unknown[] = []
  const hear = (error: unknown): void => void heard.push(error)
  process.on('unhandledRejection', hear)
  const job = await beginJob(asks('a'))
  const { append } = job.events
  // The next append finds that somebody else has ended the lease.
  let usurped = false
  job.events.append = async (stream, events, expected) => {
    if (!usurped && events.some((event) => event.type === 'StageCompleted')) {
      usurped = true
      await job.expireLease(append)
    }
    return append(stream, events, expected)
  }
  job.sends[0]?.answer()
  await job.clock.advance(1_000)
  await settled()
  process.off('unhandledRejection', hear)
  expect(heard).toEqual([])
  expect(job.log).toContain('lost 1')
  expect((await job.status()).state).toBe('succeeded')
  await job.end()
})
