import { describe, expect, test } from 'vitest'
import { sha256 } from '../../../adapters/system/sha256.ts'
import { JobId } from '../../../domain/ids.ts'
import { handle } from '../../../server/command/handle.ts'
import type { Submission } from '../../../server/engine.ts'
import type { JobDefinition } from '../../../server/defineJob.ts'
import { asks, heldProvider, heldWorld, jobThat } from '../../support/heldPlace.ts'

const begin = async (
  definition: JobDefinition,
  over: Partial<Submission> = {},
  provider: Parameters<typeof heldProvider>[0] = {},
) => {
  const held = heldProvider(provider)
  const world = heldWorld(definition, held.provider)
  const place = world.open()
  const { jobId } = await place.engine.submit(world.submission(over))
  const stop = new AbortController()
  const working = place.work({ slots: 1, leaseMs: 60_000 }, stop.signal)
  await world.clock.advance(500)
  const end = async (): Promise<void> => {
    stop.abort()
    await world.clock.advance(60_000)
    await working
  }
  const status = () => place.engine.status(jobId)
  return { ...world, ...held, ...place, jobId, end, status }
}

describe('a call', () => {
  test('is reserved at its worst case before it is sent, and booked at what it cost', async () => {
    const job = await begin(asks('a'))
    expect(job.sends).toHaveLength(1)
    expect(await job.status()).toMatchObject({ budget: { reservedCostUsd: '1', spentCostUsd: '0' } })
    job.sends[0]?.answer()
    await job.clock.advance(500)
    expect(await job.status()).toMatchObject({ state: 'succeeded', budget: { reservedCostUsd: '0', spentCostUsd: '1' } })
    await job.end()
  })

  test('with the same content and key as an open one joins it; another key is another call', async () => {
    const job = await begin(asks('a', 'a', 'b'))
    expect(job.sends).toHaveLength(2)
    for (const send of job.sends) send.answer()
    await job.clock.advance(500)
    expect(await job.status()).toMatchObject({ state: 'succeeded', output: { json: ['an answer', 'an answer', 'an answer'] } })
    await job.end()
  })

  test('waits for the others while the limit leaves no room, and pauses the job only when none is left', async () => {
    const job = await begin(asks('a', 'b', 'c', 'd'), { limits: { maximumCalls: 2 } })
    expect(job.sends).toHaveLength(2)
    expect((await job.status()).state).toBe('running')
    for (const send of job.sends) send.answer()
    await job.clock.advance(500)
    expect(job.sends).toHaveLength(2)
    expect(await job.status()).toMatchObject({ state: 'paused', errorCode: 'budget_exhausted', budget: { callsMade: 2 } })
    await expect(job.engine.resume(job.jobId, { maximumCalls: 2 })).rejects.toMatchObject({ code: 'budget_exhausted' })
    await job.engine.resume(job.jobId, { maximumCalls: 4 })
    await job.clock.advance(1_000)
    for (const send of job.sends.slice(2)) send.answer()
    await job.clock.advance(500)
    expect(job.sends).toHaveLength(4)
    expect((await job.status()).state).toBe('succeeded')
    await job.end()
  })

  test('that failed for certain gets a new key; one whose outcome is unknown keeps it', async () => {
    const job = await begin(asks('a'))
    job.sends[0]?.fail({ billed: 'no' })
    await job.clock.advance(1_000)
    job.sends[1]?.fail({ billed: 'unknown' })
    await job.clock.advance(2_000)
    expect(job.sends.map((send) => send.idempotencyKey.split(':').at(-1))).toEqual(['1', '2', '2'])
    expect(await job.status()).toMatchObject({ budget: { heldCostUsd: '1', reservedCostUsd: '1', callsMade: 2 } })
    job.sends[2]?.answer()
    await job.clock.advance(500)
    expect(await job.status()).toMatchObject({ state: 'succeeded', budget: { heldCostUsd: '1', spentCostUsd: '1' } })
    await job.end()
  })

  test('whose key the provider replays takes its hold over', async () => {
    const job = await begin(asks('a'), {}, { replaysForSeconds: 600 })
    job.sends[0]?.fail({ billed: 'unknown' })
    await job.clock.advance(1_000)
    expect(await job.status()).toMatchObject({ budget: { heldCostUsd: '0', reservedCostUsd: '1', callsMade: 1 } })
    job.sends[1]?.answer()
    await job.clock.advance(500)
    expect(new Set(job.sends.map((send) => send.idempotencyKey)).size).toBe(1)
    expect(await job.status()).toMatchObject({ state: 'succeeded', budget: { heldCostUsd: '0', spentCostUsd: '1' } })
    await job.end()
  })

  test('with an unknown outcome pauses a job that is to ask first, until somebody says what became of it', async () => {
    const job = await begin(asks('a'), { onUnknown: 'pause' })
    job.sends[0]?.fail({ billed: 'unknown' })
    await job.clock.advance(5_000)
    expect(job.sends).toHaveLength(1)
    expect(await job.status()).toMatchObject({ state: 'paused', errorCode: 'unknown_outcome' })
    await expect(job.engine.resume(job.jobId)).rejects.toMatchObject({ code: 'unreconciled_calls' })
    await job.engine.reconcile(job.jobId, { call: 1, billed: false })
    await job.engine.resume(job.jobId)
    await job.clock.advance(1_000)
    job.sends[1]?.answer()
    await job.clock.advance(500)
    expect(await job.status()).toMatchObject({ state: 'succeeded', budget: { heldCostUsd: '0', spentCostUsd: '1' } })
    await job.end()
  })

  test('told to wait longer than five seconds gives the job back, and uses up no attempt', async () => {
    const job = await begin(asks('a'))
    job.sends[0]?.fail({ code: 'rate_limited', retryAfter: { raw: '20', ms: 20_000 } })
    await job.clock.advance(500)
    const waiting = await job.status()
    expect(waiting).toMatchObject({ state: 'retry_wait', leaseOwner: null, attemptCount: 0, waitingFor: { reason: 'retry_after' } })
    expect(await job.dataOf(job.jobId, 'RetryScheduled')).toMatchObject([{ delayMs: 25_000, retryAfter: { raw: '20' } }])
    await job.clock.advance(24_000)
    expect(job.sends).toHaveLength(1)
    await job.clock.advance(2_000)
    expect(job.sends).toHaveLength(2)
    job.sends[1]?.answer()
    await job.clock.advance(500)
    expect(await job.status()).toMatchObject({ state: 'succeeded', attemptCount: 1 })
    await job.end()
  })

  test('billed above its worst case is booked in full and pauses the job before the next one', async () => {
    const job = await begin(asks('a', 'b'), {
      concurrency: 1,
      priceProfiles: [
        {
          id: 'tokens',
          effectiveFrom: '2026-01-01',
          provider: 'held',
          models: { m: { inputPerMTok: '0', cachedInputPerMTok: '0', outputPerMTok: '100000' } },
        },
      ],
    })
    const usage = { inputTokens: 1, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 25 }
    job.sends[0]?.answer('long', { usage })
    await job.clock.advance(500)
    expect(await job.status()).toMatchObject({ state: 'paused', errorCode: 'overrun', budget: { spentCostUsd: '2.5' } })
    await job.engine.resume(job.jobId)
    await job.clock.advance(1_000)
    expect(job.sends).toHaveLength(2)
    await job.end()
  })

  test('whose usage cannot be is charged at its worst case', async () => {
    const job = await begin(asks('a'))
    job.sends[0]?.answer('odd', { usage: null })
    await job.clock.advance(500)
    expect(await job.dataOf(job.jobId, 'ProviderCallSettled')).toMatchObject([{ usageInvalid: true, costUsd: '1' }])
    await job.end()
  })

  test('is cut to what is left of the job’s working time, which pauses the job when it runs out', async () => {
    const job = await begin(asks('a'), { limits: { maximumDurationSeconds: 30 } })
    await job.clock.advance(29_600)
    const paused = await job.status()
    expect(paused).toMatchObject({ state: 'pausing', errorCode: 'budget_exhausted' })
    job.sends[0]?.answer()
    await job.clock.advance(500)
    expect((await job.status()).state).toBe('paused')
    await expect(job.engine.resume(job.jobId)).rejects.toMatchObject({ code: 'budget_exhausted' })
    await job.end()
  })
})

describe('an owner', () => {
  test('renews its lease while a call takes long, at a third of the lease', async () => {
    const job = await begin(asks('a'))
    await job.clock.advance(70_000)
    expect((await job.typesOf(job.jobId)).filter((type) => type === 'LeaseRenewed')).toHaveLength(3)
    expect((await job.status()).lostLeaseCount).toBe(0)
    job.sends[0]?.answer()
    await job.end()
  })

  test('that lost its job leaves a late answer as evidence, and the new owner settles the held call with it', async () => {
    const job = await begin(asks('a'))
    // Somebody who watched the lease stand still for its whole length, as after a freeze, ends it.
    const { revision } = await job.status()
    const usurper = job.open()
    const at = new Date(job.clock.now()).toISOString()
    await handle({ events: job.events, snapshots: job.views, sha256, clock: job.clock }, JobId.parse(job.jobId), [
      { type: 'ExpireLease', commandId: 'expire', actor: 'test', at, token: 1, ownerRevision: revision, reason: 'expired' },
    ])
    job.sends[0]?.answer('late')
    await job.clock.advance(2_000)
    expect(job.log).toContain('lost 1')
    expect(await job.status()).toMatchObject({ state: 'succeeded', output: { json: ['late'] } })
    expect(job.sends).toHaveLength(1)
    expect(await job.dataOf(job.jobId, 'ProviderCallSettled')).toMatchObject([{ call: 1, late: true, costUsd: '1' }])
    await usurper.close()
    await job.end()
  })

  test('asked to stop ends its open calls first, then pauses', async () => {
    const job = await begin(asks('a', 'b', 'c', 'd', 'e', 'f'))
    expect(job.sends).toHaveLength(4)
    await job.engine.pause(job.jobId)
    await job.clock.advance(1_000)
    expect((await job.status()).state).toBe('pausing')
    for (const send of job.sends) send.answer()
    await job.clock.advance(500)
    expect(await job.status()).toMatchObject({ state: 'paused', budget: { callsMade: 4, heldCostUsd: '0' }, attemptCount: 0 })
    expect(job.sends).toHaveLength(4)
    await job.end()
  })

  test('that is drained cuts what does not end in time, holds it, and gives the job back', async () => {
    const job = await begin(asks('a'))
    await job.end()
    expect(await job.typesOf(job.jobId)).toEqual([
      'JobSubmitted',
      'JobLeased',
      'JobStarted',
      'ProviderCallReserved',
      'LeaseRenewed',
      'ProviderCallFailed',
      'LeaseReleased',
    ])
    expect(await job.status()).toMatchObject({ state: 'queued', attemptCount: 0, budget: { heldCostUsd: '1' } })
  })

  test('whose stage has a bug fails the job, and names it', async () => {
    const job = await begin(jobThat(() => Promise.reject(new TypeError('undefined is not a function'))))
    await job.clock.advance(1_000)
    expect(await job.status()).toMatchObject({ state: 'failed', errorCode: 'bug', errorSummary: 'undefined is not a function' })
    await job.end()
  })

  test('does not repeat a checkpoint, and finds its value again', async () => {
    let runs = 0
    const job = await begin(
      jobThat(async (ctx) => {
        runs += 1
        const before = await ctx.checkpointed('piece')
        await ctx.checkpoint('piece', { made: 'once' })
        await ctx.checkpoint('piece', { made: 'twice' })
        if (before === null) throw new Error('again')
        return before.value
      }),
    )
    await job.clock.advance(500)
    expect((await job.status()).state).toBe('failed')
    await job.engine.retry(job.jobId)
    await job.clock.advance(1_000)
    expect(runs).toBe(2)
    expect(await job.status()).toMatchObject({ state: 'succeeded', output: { json: { made: 'once' } } })
    expect((await job.typesOf(job.jobId)).filter((type) => type === 'CheckpointRecorded')).toHaveLength(1)
    await job.end()
  })
})
