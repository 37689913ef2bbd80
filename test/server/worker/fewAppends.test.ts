import { expect, test } from 'vitest'
import { z } from 'zod'
import { defineJob } from '../../../server/defineJob.ts'
import { heldProvider, heldWorld } from '../../support/heldPlace.ts'

test('a ten-stage job of no-ops is at most 16 events in 12 appends and 8 KB', async () => {
  const stages = Array.from({ length: 10 }, (_, index) => ({ name: `stage-${index}`, run: async () => ({ done: index }) }))
  const world = heldWorld(
    defineJob({ type: 'custom', version: 1, input: z.unknown(), stages }),
    heldProvider().provider,
  )
  let appends = 0
  const { engine, work } = world.open({
    events: {
      ...world.events,
      append: (...given) => {
        appends += 1
        return world.events.append(...given)
      },
    },
  })
  const { jobId } = await engine.submit(world.submission({ provider: null, model: null, priceProfiles: [] }))
  const stop = new AbortController()
  const working = work({}, stop.signal)
  await world.clock.advance(1_000)
  expect((await engine.status(jobId)).state).toBe('succeeded')
  const stored = await world.events.readStream(`job-${jobId}`)
  const bytes = stored.reduce((sum, event) => sum + Object.values(event).join('').length, 0)
  expect(stored.length).toBeLessThanOrEqual(16)
  expect(appends).toBeLessThanOrEqual(12)
  expect(bytes).toBeLessThanOrEqual(8_192)
  stop.abort()
  await world.clock.advance(1_000)
  await working
})
