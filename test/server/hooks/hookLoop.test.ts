import { describe, expect, test } from 'vitest'
import { memoryEventStore } from '../../../adapters/memory/memoryEventStore.ts'
import { StoreUnavailable } from '../../../domain/errors.ts'
import type { CompletionHook } from '../../../domain/ports/completionHook.ts'
import type { Presence } from '../../../domain/ports/presence.ts'
import { hookRetryPolicy } from '../../../server/hooks/hookRetry.ts'
import { tellingMax } from '../../../server/hooks/hookLoop.ts'
import { silentTelemetry } from '../../../server/telemetry.ts'
import type { WorkplaceParts } from '../../../server/workplace.ts'
import { heldProvider, heldWorld, jobThat } from '../../support/heldPlace.ts'
import { heldHook, refusal } from './heldHook.ts'

const idleMs = 1_500

/** Jobs that end by themselves at once, on stores in memory and with time in the test's hand. */
const hookWorld = () => {
  const world = heldWorld(jobThat(async () => 'done'), heldProvider().provider)
  const notices: string[] = []
  const telemetry = { ...silentTelemetry, notice: (message: string) => void notices.push(message) }
  const place = world.open()
  let keys = 0
  const submit = async () => (await place.engine.submit(world.submission({ idempotencyKey: `job ${(keys += 1)}` }))).jobId

  /** A worker of its own process, told to end by `stop`; a killed one is one that is never heard of again. */
  const start = async (hook: CompletionHook, over: Partial<WorkplaceParts> = {}, work = {}) => {
    const stop = new AbortController()
    const working = world.open({ telemetry, hooks: async () => [hook], ...over }).work(work, stop.signal)
    await world.clock.advance(idleMs)
    const end = async (): Promise<void> => {
      stop.abort()
      await world.clock.until(working)
    }
    return { end, stop, working }
  }
  /** A process whose store takes no write any more: nothing of what it goes on to do is seen. */
  const mortal = () => {
    let isDead = false
    const dead = (): Promise<never> => new Promise(() => {})
    const views = { ...world.views, commit: (...asked: Parameters<typeof world.views.commit>) => (isDead ? dead() : world.views.commit(...asked)) }
    return { views, die: () => void (isDead = true) }
  }
  const due = async () => (await world.views.scan('endings-webhook', 1)).length
  return { ...world, engine: place.engine, notices, submit, start, mortal, due }
}

describe('a worker tells its hook', () => {
  test('of a job that it has worked, once, by the id of the event and the job as that left it', async () => {
    const world = hookWorld()
    const { hook, tells } = heldHook()
    const worker = await world.start(hook)
    const jobId = await world.submit()
    await world.clock.advance(idleMs)
    expect(tells).toHaveLength(1)
    const ended = (await world.events.readStream(`job-${jobId}`)).find(({ type }) => type === 'JobSucceeded')
    const status = await world.engine.status(jobId)
    expect(tells[0]?.ending).toEqual({ eventId: ended?.id, type: 'job.succeeded', at: ended?.recordedAt, job: status })
    tells[0]?.answer()
    await world.clock.advance(600_000)
    expect(tells).toHaveLength(1)
    expect(await world.due()).toBe(0)
    expect(world.notices).toEqual([])
    await worker.end()
  })

  test('of whatever ends or pauses a job, whoever did it', async () => {
    const world = hookWorld()
    const { hook, tells, types } = heldHook()
    const later = { startAfter: new Date(world.clock.now() + 86_400_000).toISOString() }
    const worker = await world.start(hook)
    const { jobId } = await world.engine.submit(world.submission(later))
    await world.engine.pause(jobId)
    await world.clock.advance(idleMs)
    await world.engine.resume(jobId)
    await world.engine.cancel(jobId)
    await world.clock.advance(idleMs)
    expect(types()).toEqual(['job.paused', 'job.cancelled'])
    // Told late, a pause is still told as it was.
    expect(tells.map(({ ending }) => ending.job.state)).toEqual(['paused', 'cancelled'])
    tells.forEach(({ answer }) => answer())
    await worker.end()
  })

  test('of a pause as it was, also when it is told after the job has gone on', async () => {
    const world = hookWorld()
    const { hook, tells } = heldHook()
    const worker = await world.start(hook)
    const { jobId } = await world.engine.submit(world.submission({ startAfter: new Date(world.clock.now() + 86_400_000).toISOString() }))
    const paused = await world.engine.pause(jobId)
    await world.clock.advance(idleMs)
    tells[0]?.answer(refusal)
    await world.engine.cancel(jobId)
    await world.clock.advance(idleMs)
    const again = tells.map(({ ending }) => ending).findLast(({ type }) => type === 'job.paused')
    expect(again).toEqual(tells[0]?.ending)
    expect(again?.job).toEqual({ ...paused, existing: true })
    tells.forEach(({ answer }) => answer())
    await worker.end()
  })

  test('of nothing that ended before any worker of the store had a hook', async () => {
    const world = hookWorld()
    const { hook, tells } = heldHook()
    await world.submit()
    await world.clock.until(world.open().work({ once: true }))
    const worker = await world.start(hook)
    await world.clock.advance(60_000)
    expect(tells).toEqual([])
    await worker.end()
  })

  test('of what ended while no worker ran', async () => {
    const world = hookWorld()
    const { hook, types } = heldHook()
    await (await world.start(hook)).end()
    await world.submit()
    await world.clock.until(world.open().work({ once: true }))
    const worker = await world.start(hook)
    expect(types()).toEqual(['job.succeeded'])
    await worker.end()
  })
})

describe('what is not taken', () => {
  test('is told again by the same id, after longer and longer waits, and given up after so many tries', async () => {
    const world = hookWorld()
    const at: number[] = []
    const ids = new Set<string>()
    const { hook } = heldHook({
      tell: async ({ eventId }) => {
        at.push(world.clock.monotonic())
        ids.add(eventId)
        return { taken: false, said: 'answered 500', askedMs: null }
      },
    })
    const worker = await world.start(hook)
    await world.submit()
    await world.clock.advance(3_000_000)
    expect(at).toHaveLength(hookRetryPolicy.attemptsMax)
    expect(ids.size).toBe(1)
    const waits = at.slice(1).map((time, index) => time - (at[index] ?? 0))
    // Luck is half in this world, so each wait is three quarters of its step.
    const steps = waits.map((_, index) => Math.min(hookRetryPolicy.delayMsMax, hookRetryPolicy.delayMsMin * 2 ** index))
    waits.forEach((wait, index) => {
      expect(wait).toBeGreaterThanOrEqual((steps[index] ?? 0) * 0.75)
      expect(wait).toBeLessThan((steps[index] ?? 0) * 0.75 + 100)
    })
    expect(world.notices[0]).toMatch(/^held could not be told of job \w+ \(job\.succeeded\): answered 500; try 1 of 20, again in 1 s$/)
    expect(world.notices.at(-1)).toMatch(/try 20 of 20, it is not tried again$/)
    expect(await world.due()).toBe(0)
    await worker.end()
  })

  test('is told no sooner than was asked for', async () => {
    const world = hookWorld()
    const { hook, tells } = heldHook()
    const worker = await world.start(hook)
    await world.submit()
    await world.clock.advance(idleMs)
    tells[0]?.answer({ ...refusal, askedMs: 600_000 })
    await world.clock.advance(600_000)
    expect(tells).toHaveLength(1)
    await world.clock.advance(300_000)
    expect(tells).toHaveLength(2)
    tells[1]?.answer()
    await worker.end()
  })

  test('counts its tries over restarts', async () => {
    const world = hookWorld()
    const { hook } = heldHook({ tell: async () => ({ taken: false, said: 'no', askedMs: null }) })
    const first = await world.start(hook)
    await world.submit()
    await world.clock.advance(20_000)
    await first.end()
    const before = world.notices.length
    expect(before).toBeGreaterThan(2)
    const second = await world.start(hook)
    await world.clock.advance(3_000_000)
    expect(world.notices).toHaveLength(hookRetryPolicy.attemptsMax)
    await second.end()
  })

  test('by a hook that raises is told again', async () => {
    const world = hookWorld()
    let tries = 0
    const { hook } = heldHook({
      tell: async () => {
        tries += 1
        if (tries === 1) throw new Error('no more processes')
        return { taken: true, said: '', askedMs: null }
      },
    })
    const worker = await world.start(hook)
    await world.submit()
    await world.clock.advance(10_000)
    expect(tries).toBe(2)
    expect(world.notices).toEqual([expect.stringContaining('no more processes; try 1 of 20')])
    await worker.end()
  })
})

describe('a hook that hangs', () => {
  test('keeps no job waiting, and no other ending', async () => {
    const world = hookWorld()
    const { hook, tells } = heldHook()
    const worker = await world.start(hook)
    const jobs: string[] = []
    for (let index = 0; index < tellingMax + 3; index += 1) jobs.push(await world.submit())
    await world.clock.advance(5_000)
    for (const jobId of jobs) expect((await world.engine.status(jobId)).state).toBe('succeeded')
    expect(tells).toHaveLength(tellingMax)
    // One place is enough for all that is left.
    for (let done = tellingMax - 1; done < jobs.length; done += 1) {
      tells[done]?.answer()
      await world.clock.advance(100)
    }
    expect(new Set(tells.map(({ ending }) => ending.job.jobId))).toEqual(new Set(jobs))
    tells.forEach(({ answer }) => answer())
    await worker.end()
  })

  test('gets as long as the drain to end, and is then cut; the ending is told by the next worker, uncounted', async () => {
    const world = hookWorld()
    const { hook, tells } = heldHook()
    const worker = await world.start(hook, {}, { drainMs: 5_000 })
    await world.submit()
    await world.clock.advance(idleMs)
    worker.stop.abort()
    await world.clock.advance(4_900)
    expect(tells[0]?.signal.aborted).toBe(false)
    await world.clock.advance(200)
    await world.clock.until(worker.working)
    expect(tells[0]?.signal.aborted).toBe(true)
    expect(world.notices).toEqual([])
    const next = await world.start(hook)
    expect(tells).toHaveLength(2)
    expect(tells[1]?.ending).toEqual(tells[0]?.ending)
    tells[1]?.answer()
    await next.end()
  })
})

describe('of several workers', () => {
  test('one tells each ending, also where all of them see that a wait is over', async () => {
    const world = hookWorld()
    const told: string[] = []
    const { hook } = heldHook({
      tell: async ({ eventId }) => {
        const isFirst = !told.includes(eventId)
        told.push(eventId)
        await world.clock.sleep(50)
        return { taken: !isFirst, said: '', askedMs: null }
      },
    })
    const workers = await Promise.all([world.start(hook), world.start(hook), world.start(hook)])
    for (let index = 0; index < 40; index += 1) await world.submit()
    await world.clock.advance(20_000)
    expect(told).toHaveLength(80)
    expect(new Set(told).size).toBe(40)
    expect(await world.due()).toBe(0)
    await Promise.all(workers.map(({ end }) => end()))
  })

  test('one takes over from another that is gone, as soon as the host knows that', async () => {
    const world = hookWorld()
    const announced: string[] = []
    const gone = new Set<string>()
    const presence: Presence = {
      announce: async (id) => {
        announced.push(id)
        return async () => void gone.add(id)
      },
      isGone: async (id) => gone.has(id),
    }
    const { hook, tells } = heldHook()
    const { views, die } = world.mortal()
    await world.start(hook, { views, presence })
    await world.submit()
    await world.clock.advance(idleMs)
    expect(tells).toHaveLength(1)
    die()
    const second = await world.start(hook, { presence })
    await world.clock.advance(60_000)
    expect(tells).toHaveLength(1)
    gone.add(announced.find((id) => id.startsWith('webhook-')) ?? '')
    await world.clock.advance(idleMs)
    expect(tells).toHaveLength(2)
    expect(tells[1]?.ending).toEqual(tells[0]?.ending)
    tells[1]?.answer()
    await second.end()
    expect(await world.due()).toBe(0)
  })

  test('one takes over from another that says nothing for far longer than a try lasts, where nobody knows more', async () => {
    const world = hookWorld()
    const { hook, tells } = heldHook()
    const { views, die } = world.mortal()
    await world.start(hook, { views })
    await world.submit()
    await world.clock.advance(idleMs)
    die()
    const second = await world.start(hook)
    await world.clock.advance(170_000)
    expect(tells).toHaveLength(1)
    await world.clock.advance(20_000)
    expect(tells).toHaveLength(2)
    tells[1]?.answer()
    await world.clock.advance(idleMs)
    expect(await world.due()).toBe(0)
    await second.end()
  })

  test('one whose ending was taken over in the meantime leaves it to that one', async () => {
    const world = hookWorld()
    const { hook, tells } = heldHook()
    const first = await world.start(hook)
    await world.submit()
    await world.clock.advance(idleMs)
    const second = await world.start(hook)
    await world.clock.advance(200_000)
    expect(tells).toHaveLength(2)
    tells[0]?.answer(refusal)
    await world.clock.advance(10_000)
    expect(await world.due()).toBe(1)
    expect(tells).toHaveLength(2)
    tells[1]?.answer()
    await world.clock.advance(idleMs)
    expect(await world.due()).toBe(0)
    await Promise.all([first.end(), second.end()])
  })
})

test('a worker that works until nothing is due tells of what it has worked before it ends', async () => {
  const world = hookWorld()
  const { hook, tells } = heldHook()
  await world.submit()
  const { working } = await world.start(hook, {}, { once: true })
  await world.clock.advance(10_000)
  tells[0]?.answer(refusal)
  await world.clock.advance(5_000)
  expect(tells).toHaveLength(2)
  tells[1]?.answer()
  await world.clock.until(working)
  expect(await world.due()).toBe(0)
})

test('a worker that works until nothing is due does not wait for ever for who takes nothing', async () => {
  const world = hookWorld()
  const { hook } = heldHook({ tell: async () => ({ taken: false, said: 'no', askedMs: null }) })
  await world.submit()
  const begun = world.clock.monotonic()
  const { working } = await world.start(hook, {}, { once: true })
  await world.clock.until(working)
  expect(world.clock.monotonic() - begun).toBeLessThan(70_000)
  expect(await world.due()).toBe(1)
})

test('a store of views that is deleted begins again at the head', async () => {
  const world = hookWorld()
  const { hook, tells } = heldHook()
  const worker = await world.start(hook)
  await world.submit()
  await world.clock.advance(idleMs)
  await world.views.drop('endings-webhook', 1)
  tells[0]?.answer(refusal)
  await world.clock.advance(60_000)
  expect(tells).toHaveLength(1)
  await world.submit()
  await world.clock.advance(idleMs)
  expect(tells).toHaveLength(2)
  tells[1]?.answer()
  await worker.end()
})

test.each([
  ['a shorter', 6, 1],
  ['a longer', 1, 6],
])('a cursor of another log is not gone on with: %s one', async (_, before, after) => {
  const world = hookWorld()
  const { hook, tells } = heldHook()
  const first = await world.start(hook)
  for (let index = 0; index < before; index += 1) await world.submit()
  await world.clock.advance(idleMs)
  await first.end()
  expect(await world.due()).toBe(before)
  const events = memoryEventStore()
  const other = world.open({ events })
  const keys = Array.from({ length: after }, (__, index) => `other ${index}`)
  for (const key of keys) await other.engine.submit(world.submission({ idempotencyKey: key }))
  const second = await world.start(hook, { events })
  await world.clock.advance(60_000)
  const told = tells.slice(before).map(({ ending }) => ending.job.idempotencyKey)
  expect(told.toSorted()).toEqual(keys)
  expect(world.notices).toEqual([])
  tells.forEach(({ answer }) => answer())
  await second.end()
})

test('views that are away for a while are waited for, and nothing is told twice', async () => {
  const world = hookWorld()
  const { hook, tells } = heldHook()
  let isAway = false
  const views = {
    ...world.views,
    commit: async (...asked: Parameters<typeof world.views.commit>) => {
      if (isAway) throw new StoreUnavailable('the disk is full')
      return world.views.commit(...asked)
    },
  }
  const worker = await world.start(hook, { views })
  await world.submit()
  await world.clock.advance(idleMs)
  isAway = true
  tells[0]?.answer()
  await world.clock.advance(60_000)
  expect(await world.due()).toBe(1)
  isAway = false
  await world.clock.advance(10_000)
  expect(tells).toHaveLength(1)
  expect(await world.due()).toBe(0)
  await worker.end()
})
