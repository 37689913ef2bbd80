import { expect, test } from 'vitest'
import { JobId } from '../../../domain/ids.ts'
import { rotated } from '../../../server/worker/worker.ts'
import { silentTelemetry } from '../../../server/telemetry.ts'
import { asks, heldProvider, heldWorld } from '../../support/heldPlace.ts'

test('jobs that this process cannot work are named once each, and hide none of those behind them', async () => {
  const { provider, sends } = heldProvider()
  const world = heldWorld(asks('a'), provider)
  const named: string[] = []
  const place = world.open({
    provider: (name) => (name === 'held' ? provider : null),
    telemetry: { ...silentTelemetry, notRunnable: (jobId, why) => void named.push(`${jobId} ${why}`) },
  })
  const elsewhere: string[] = []
  for (let index = 0; index < 40; index += 1) {
    const provided = { provider: { name: 'elsewhere', baseUrl: null }, priceProfiles: [], allowUnpriced: ['m'], priority: 1 }
    const { jobId } = await place.engine.submit(world.submission({ ...provided, idempotencyKey: `elsewhere ${index}` }))
    elsewhere.push(jobId)
  }
  const { jobId } = await place.engine.submit(world.submission())
  const working = place.work({ slots: 1, once: true }, new AbortController().signal)
  await world.clock.advance(30_000)
  expect(sends).toHaveLength(1)
  sends[0]?.answer()
  await world.clock.until(working)
  expect((await place.engine.status(jobId)).state).toBe('succeeded')
  expect(named.toSorted()).toEqual(elsewhere.map((each) => `${each} it has no provider "elsewhere"`).toSorted())
})

test('a job of another version of its definition is left to who has it, and that is said', async () => {
  const { provider } = heldProvider()
  const world = heldWorld(asks('a'), provider)
  const named: string[] = []
  const telemetry = { ...silentTelemetry, notRunnable: (_: string, why: string) => void named.push(why) }
  const older = world.open({ telemetry })
  const newer = world.open({ definitions: [{ ...asks('a'), version: 2 }] })
  const { jobId } = await newer.engine.submit(world.submission())
  await world.clock.until(older.work({ once: true }, new AbortController().signal))
  expect(named).toEqual(['it has no definition of type "custom", version 2, with the stages only'])
  expect((await older.engine.status(jobId)).state).toBe('queued')
})

test('workers that meet begin at different jobs, but none at one of lower priority', () => {
  const ready = [5, 5, 5, 1].map((priority, index) => ({
    jobId: JobId.parse(String(index).repeat(32)),
    mark: 'ready 0',
    first: null,
    priority,
  }))
  const firsts = ['a', 'b', 'c'].map((workerId) => rotated(ready, workerId)[0])
  expect(new Set(firsts).size).toBe(3)
  for (const workerId of ['a', 'b', 'c', 'd']) expect(rotated(ready, workerId).at(-1)?.priority).toBe(1)
  expect(rotated([], 'a')).toEqual([])
})
