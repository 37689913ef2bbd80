import { expect, test } from 'vitest'
import { gate } from '../../../server/worker/gate.ts'
import { manualClock, settled } from '../../support/manualClock.ts'

const never = new AbortController().signal

test('without limits everybody passes at once', async () => {
  const open = gate({}, manualClock())
  expect(open.waitMs(1_000_000)).toBe(0)
  expect(await open.enter(1_000_000, never)).not.toBeNull()
})

test('only so many are inside, and who leaves lets the next one in, in order', async () => {
  const two = gate({ maximumConcurrency: 2 }, manualClock())
  const inside: number[] = []
  const leaves: ((() => void) | null)[] = []
  const entering = [1, 2, 3, 4].map(async (number) => {
    leaves[number] = await two.enter(1, never)
    inside.push(number)
  })
  await settled()
  expect(inside).toEqual([1, 2])
  leaves[1]?.()
  await settled()
  expect(inside).toEqual([1, 2, 3])
  leaves[1]?.()
  await settled()
  expect(inside).toEqual([1, 2, 3])
  leaves[2]?.()
  await Promise.all(entering)
  expect(inside).toEqual([1, 2, 3, 4])
})

test('who gives up waiting takes no place away', async () => {
  const one = gate({ maximumConcurrency: 1 }, manualClock())
  const leave = await one.enter(1, never)
  const impatient = new AbortController()
  const gaveUp = one.enter(1, impatient.signal)
  const patient = one.enter(1, never)
  impatient.abort()
  expect(await gaveUp).toBeNull()
  leave?.()
  expect(await patient).not.toBeNull()
})

test('so many requests pass in any minute, and the next waits for the oldest to be a minute ago', async () => {
  const clock = manualClock()
  const three = gate({ requestsPerMinute: 3 }, clock)
  for (let sent = 0; sent < 3; sent += 1) {
    await three.enter(1, never)
    await clock.advance(10_000)
  }
  expect(three.waitMs(1)).toBe(30_000)
  let passed = false
  const fourth = three.enter(1, never).then(() => (passed = true))
  await clock.advance(29_999)
  expect(passed).toBe(false)
  await clock.advance(1)
  await fourth
  expect(passed).toBe(true)
})

test('tokens count by the minute; a call larger than the whole minute passes alone', async () => {
  const clock = manualClock()
  const hundred = gate({ tokensPerMinute: 100 }, clock)
  await hundred.enter(60, never)
  expect(hundred.waitMs(40)).toBe(0)
  expect(hundred.waitMs(41)).toBe(60_000)
  expect(hundred.waitMs(500)).toBe(60_000)
  await clock.advance(60_000)
  expect(hundred.waitMs(500)).toBe(0)
})

test('calls that are known from the log count for the rest of their minute', () => {
  const clock = manualClock()
  const one = gate({ requestsPerMinute: 1 }, clock)
  one.remember(5, 45_000)
  expect(one.waitMs(5)).toBe(15_000)
})

test('nobody who comes later is let in before those who queue, also at the moment a place is left', async () => {
  const one = gate({ maximumConcurrency: 1 }, manualClock())
  const leave = await one.enter(1, never)
  const order: string[] = []
  const enter = async (name: string): Promise<void> => {
    const left = await one.enter(1, never)
    order.push(name)
    left?.()
  }
  const entering = [enter('first'), enter('second')]
  leave?.()
  entering.push(enter('newcomer'))
  await Promise.all(entering)
  expect(order).toEqual(['first', 'second', 'newcomer'])
})

test('who gives up in the queue leaves the order of the others as it was', async () => {
  const one = gate({ maximumConcurrency: 1 }, manualClock())
  const leave = await one.enter(1, never)
  const impatient = new AbortController()
  const order: string[] = []
  const enter = async (name: string, signal: AbortSignal): Promise<void> => {
    const left = await one.enter(1, signal)
    if (left !== null) order.push(name)
    left?.()
  }
  const entering = [enter('gave up', impatient.signal), enter('first', never), enter('second', never)]
  impatient.abort()
  await settled()
  leave?.()
  await Promise.all(entering)
  expect(order).toEqual(['first', 'second'])
})
