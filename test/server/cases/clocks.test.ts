import { expect, test } from 'vitest'
import type { Clock } from '../../../domain/ports/clock.ts'
import { asks, heldProvider, heldWorld } from '../../support/heldPlace.ts'

test('O-03: a worker whose clock is ten minutes ahead takes no live job, and starts a wait neither early nor late', async () => {
  const { provider, sends } = heldProvider()
  const world = heldWorld(asks('a'), provider)
  const ahead: Clock = { ...world.clock, now: () => world.clock.now() + 600_000 }
  const stop = new AbortController()
  const { engine } = world.open()
  const { jobId } = await engine.submit(world.submission())
  const [first, second] = [world.open(), world.open({ clock: ahead })]
  const working = [first.work({ leaseMs: 60_000, workerId: 'true' }, stop.signal)]
  await world.clock.advance(500)
  working.push(second.work({ leaseMs: 60_000, workerId: 'ahead' }, stop.signal))
  await world.clock.advance(20_000)
  expect(await engine.status(jobId)).toMatchObject({ state: 'running', leaseOwner: 'true', leaseToken: 1 })

  sends[0]?.fail({ code: 'rate_limited', retryAfter: { raw: '15', ms: 15_000 } })
  await world.clock.advance(100)
  const [scheduled] = await world.dataOf(jobId, 'RetryScheduled')
  const scheduledAt = world.clock.monotonic()
  const delayMs = scheduled?.delayMs ?? 0
  expect(delayMs).toBeGreaterThanOrEqual(15_000)
  while (sends.length < 2) await world.clock.advance(100)
  const startedAfterMs = world.clock.monotonic() - scheduledAt
  expect(startedAfterMs).toBeGreaterThanOrEqual(delayMs - 200)
  expect(startedAfterMs).toBeLessThan(delayMs + 2_000)
  sends[1]?.answer()
  await world.clock.advance(500)
  expect(await engine.status(jobId)).toMatchObject({ state: 'succeeded', lostLeaseCount: 0 })
  expect((await engine.audit(jobId)).findings).toEqual([])
  stop.abort()
  await world.clock.advance(1_000)
  await Promise.all(working)
})
