import { expect, test } from 'vitest'
import { randomFrom } from '../../contract/seededRandom.ts'
import { asks, heldProvider, heldWorld } from '../../support/heldPlace.ts'

const seed = 6

test(`O-06, seed ${seed}: fifty jobs that were told the same wait come back after it and apart from each other`, async () => {
  const { provider, sends } = heldProvider()
  const world = heldWorld(asks('a'), provider)
  const { below } = randomFrom(seed)
  let ids = 0
  const { engine, work } = world.open({ random: { luck: () => below(2 ** 32) / 2 ** 32, id: () => `drawn-${(ids += 1)}` } })
  const jobs: string[] = []
  for (let index = 0; index < 50; index += 1) {
    jobs.push((await engine.submit(world.submission({ idempotencyKey: `job ${index}` }))).jobId)
  }
  const stop = new AbortController()
  const working = work({ slots: 50 }, stop.signal)
  while (sends.length < 50) await world.clock.advance(10)
  const toldAt = world.clock.monotonic()
  for (const send of sends) send.fail({ code: 'rate_limited', retryAfter: { raw: '5', ms: 5_000 } })

  const backAfterMs: number[] = []
  while (backAfterMs.length < 50) {
    await world.clock.advance(10)
    const back = sends.slice(50 + backAfterMs.length)
    for (const send of back) {
      backAfterMs.push(world.clock.monotonic() - toldAt)
      send.answer()
    }
  }
  await world.clock.advance(500)
  const most = Math.max(...backAfterMs.map((at) => backAfterMs.filter((each) => each >= at && each < at + 100).length))
  expect(Math.min(...backAfterMs)).toBeGreaterThanOrEqual(5_000)
  expect(Math.max(...backAfterMs) - Math.min(...backAfterMs)).toBeGreaterThanOrEqual(1_000)
  expect(most).toBeLessThanOrEqual(10)
  for (const jobId of jobs) {
    const [scheduled] = await world.dataOf(jobId, 'RetryScheduled')
    expect(scheduled).toMatchObject({ delayReason: 'retry_after', retryAfter: { raw: '5', ms: 5_000 }, countsAsAttempt: false })
    expect(await engine.status(jobId)).toMatchObject({ state: 'succeeded', attemptCount: 1 })
  }
  expect((await engine.verifyLog()).findings).toEqual([])
  stop.abort()
  await world.clock.advance(1_000)
  await working
})
