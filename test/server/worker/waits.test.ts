import { expect, test } from 'vitest'
import { stopping as newStopping } from '../../../server/worker/stopping.ts'
import { type WaitReason, waits as newWaits } from '../../../server/worker/waits.ts'
import { manualClock } from '../../support/manualClock.ts'

const asked: WaitReason = {
  failure: { errorCode: 'rate_limited', errorSummary: 'come back later', errorKind: 'transient', retryable: true },
  delayReason: 'retry_after',
  luck: 0.5,
}

const attempt = () => {
  const clock = manualClock()
  const stopping = newStopping()
  return { clock, stopping, waits: newWaits(clock, stopping) }
}

test('a wait of up to five seconds is slept through', async () => {
  const { clock, stopping, waits } = attempt()
  waits.begin()
  let over = false
  void waits.wait(5_000, asked).then(() => (over = true))
  await clock.advance(4_999)
  expect(over).toBe(false)
  await clock.advance(1)
  expect(over).toBe(true)
  expect(stopping.reason).toBeNull()
})

test('a longer wait gives the job back when no other call can go on', async () => {
  const { clock, stopping, waits } = attempt()
  waits.begin()
  const wait = waits.wait(5_001, asked)
  expect(stopping.reason).toEqual({ kind: 'wait', wish: { type: 'WaitOut', delayMs: 5_001, ...asked } })
  await wait
  expect(clock.monotonic()).toBe(0)
})

test('a longer wait is slept through while another call is under way, and ends the attempt with it', async () => {
  const { clock, stopping, waits } = attempt()
  waits.begin()
  waits.begin()
  void waits.wait(30_000, asked)
  await clock.advance(1_000)
  expect(stopping.reason).toBeNull()
  waits.end()
  await clock.advance(100)
  expect(stopping.reason).toMatchObject({ kind: 'wait', wish: { delayMs: 28_990 } })
})

test('of several waits the shortest decides', () => {
  const { stopping, waits } = attempt()
  waits.begin()
  waits.begin()
  void waits.wait(60_000, asked)
  void waits.wait(2_000, asked)
  expect(stopping.reason).toBeNull()
  expect(waits.longest()).toMatchObject({ reason: 'rate_limited' })
})

test('the first reason to stop holds, a cancel overrides it, and a lost lease overrides all', () => {
  const { stopping } = attempt()
  const seen: string[] = []
  stopping.stop({ kind: 'pause' })
  stopping.onStop((reason) => void seen.push(reason.kind))
  stopping.stop({ kind: 'drain' })
  stopping.stop({ kind: 'cancel' })
  expect(stopping.hard.aborted).toBe(false)
  stopping.stop({ kind: 'lost' })
  stopping.stop({ kind: 'cancel' })
  expect(seen).toEqual(['pause', 'cancel', 'lost'])
  expect(stopping.hard.aborted).toBe(true)
})
