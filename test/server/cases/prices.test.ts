import { expect, test } from 'vitest'
import { asks, heldProvider, heldWorld } from '../../support/heldPlace.ts'

const profile = (id: string, effectiveFrom: string, inputPerMTok: string) => ({
  id,
  effectiveFrom,
  provider: 'held',
  models: { m: { inputPerMTok, cachedInputPerMTok: inputPerMTok, outputPerMTok: '0' } },
})

test('O-10: a later price changes no cost of an earlier job, also after a rebuild', async () => {
  const { provider, sends } = heldProvider({ countTokens: () => 1_000_000 })
  const world = heldWorld(asks('a'), provider)
  const { engine, work } = world.open()
  const stop = new AbortController()
  const working = work({}, stop.signal)
  const usage = { inputTokens: 1_000_000, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0 }
  const first = profile('P1', '2026-01-01', '5.00')
  const second = profile('P2', '2026-01-02T00:00:00Z', '4.00')

  const before = await engine.submit(world.submission({ priceProfiles: [first] }))
  await world.clock.advance(500)
  sends[0]?.answer('one', { usage })
  await world.clock.advance(500)
  const closed = JSON.stringify(await engine.ledger(before.jobId))
  expect(await engine.status(before.jobId)).toMatchObject({ actualCostUsd: '5', priceProfile: { id: 'P1' } })

  world.clock.setWall(world.clock.now() + 86_400_000)
  const after = await engine.submit(world.submission({ priceProfiles: [first, second], idempotencyKey: 'after' }))
  await world.clock.advance(500)
  sends[1]?.answer('two', { usage })
  await world.clock.advance(500)
  expect(await engine.status(after.jobId)).toMatchObject({ actualCostUsd: '4', priceProfile: { id: 'P2' } })

  await world.clock.until(engine.rebuild([]))
  expect(JSON.stringify(await engine.ledger(before.jobId))).toBe(closed)
  expect((await engine.ledger(before.jobId)).lines).toMatchObject([{ costUsd: '5', priceProfileId: 'P1' }])
  expect((await engine.list({})).items.map((job) => [job.jobId, job.spentCostUsd])).toEqual([
    [after.jobId, '4'],
    [before.jobId, '5'],
  ])
  stop.abort()
  await world.clock.advance(1_000)
  await working
})
