import { expect, test } from 'vitest'
import { each } from '../../../server/worker/each.ts'
import { settled } from '../../support/manualClock.ts'

test('works so many at a time, and each item once', async () => {
  let running = 0
  let most = 0
  const seen: number[] = []
  await each([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    running += 1
    most = Math.max(most, running)
    await settled()
    running -= 1
    seen.push(item)
  })
  expect(most).toBe(3)
  expect(seen.toSorted((left, right) => left - right)).toEqual([1, 2, 3, 4, 5, 6, 7])
})

test('begins nothing behind a failure, lets what was begun end, and raises the first failure', async () => {
  const begun: number[] = []
  const ended: number[] = []
  const work = each([1, 2, 3, 4, 5], 2, async (item) => {
    begun.push(item)
    if (item === 1) throw new Error('first')
    await settled()
    ended.push(item)
    throw new Error('second')
  })
  await expect(work).rejects.toThrow('first')
  expect(begun).toEqual([1, 2])
  expect(ended).toEqual([2])
})
