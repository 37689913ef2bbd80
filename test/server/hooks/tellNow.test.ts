import { expect, test } from 'vitest'
import type { CompletionHook } from '../../../domain/ports/completionHook.ts'
import { StoreUnavailable } from '../../../domain/errors.ts'
import { JobId } from '../../../domain/ids.ts'
import { silentTelemetry } from '../../../server/telemetry.ts'
import { heldProvider, heldWorld, jobThat } from '../../support/heldPlace.ts'
import { heldHook, refusal } from './heldHook.ts'

/** A job that was cancelled before anybody claimed it, at a place with these hooks. */
const cancelledJob = async (...hooks: readonly CompletionHook[]) => {
  const world = heldWorld(jobThat(async () => 'done'), heldProvider().provider)
  const notices: string[] = []
  const telemetry = { ...silentTelemetry, notice: (message: string) => void notices.push(message) }
  const place = world.open({ telemetry, hooks: async () => hooks })
  const jobId = JobId.parse((await place.engine.submit(world.submission())).jobId)
  const job = await place.engine.cancel(jobId)
  return { ...world, ...place, jobId, job, notices }
}

test('the hooks are told of the last end of the job, each by itself', async () => {
  const [one, other] = [heldHook(), heldHook({ kind: 'command' })]
  const { clock, tellEnd, jobId, job, notices } = await cancelledJob(one.hook, other.hook)
  const told = tellEnd(jobId)
  await clock.advance(0)
  other.tells[0]?.answer()
  one.tells[0]?.answer(refusal)
  await clock.advance(1_000)
  one.tells[1]?.answer()
  await told
  expect(one.tells.map(({ ending }) => ending)).toEqual([other.tells[0]?.ending, other.tells[0]?.ending])
  expect(one.tells[0]?.ending).toMatchObject({ type: 'job.cancelled', job: { ...job, existing: true } })
  expect(other.tells).toHaveLength(1)
  expect(notices).toEqual([expect.stringMatching(/answered 500; again in 1 s$/)])
  expect(clock.sleepers()).toBe(0)
})

test('who takes nothing is told again for less than a minute', async () => {
  let tries = 0
  const { hook } = heldHook({ tell: async () => ((tries += 1), { taken: false, said: 'no', askedMs: null }) })
  const { clock, tellEnd, jobId, notices } = await cancelledJob(hook)
  const begun = clock.monotonic()
  await clock.until(tellEnd(jobId))
  expect(clock.monotonic() - begun).toBeLessThanOrEqual(60_000)
  expect(tries).toBeGreaterThan(5)
  expect(notices.at(-1)).toMatch(/: no; it is not tried again$/)
})

test('who hangs is cut after a minute', async () => {
  const { hook, tells } = heldHook()
  const { clock, tellEnd, jobId, notices } = await cancelledJob(hook)
  const told = tellEnd(jobId)
  await clock.advance(59_000)
  expect(tells[0]?.signal.aborted).toBe(false)
  await clock.advance(1_000)
  await told
  expect(tells).toHaveLength(1)
  expect(notices).toEqual([expect.stringMatching(/it was cut short; it is not tried again$/)])
})

test('nobody is told of a job that has not ended yet', async () => {
  const { hook, tells } = heldHook()
  const { engine, submission, tellEnd } = await cancelledJob(hook)
  const { jobId } = await engine.submit(submission({ idempotencyKey: 'other' }))
  await tellEnd(jobId)
  expect(tells).toEqual([])
})

test('a log that cannot be read is a fault that is logged, and no error', async () => {
  const { hook, tells } = heldHook()
  const { events, open, jobId } = await cancelledJob(hook)
  const faults: string[] = []
  const away = { ...events, readStream: async () => Promise.reject(new StoreUnavailable('the disk is gone')) }
  const telemetry = { ...silentTelemetry, fault: (what: string) => void faults.push(what) }
  await open({ events: away, telemetry, hooks: async () => [hook] }).tellEnd(jobId)
  expect(faults).toEqual([`telling the end of job ${jobId}`])
  expect(tells).toEqual([])
})
