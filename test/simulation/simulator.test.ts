import { expect, test } from 'vitest'
import { simulate } from './world.ts'

test.each([3, 8])('the simulator lives through seed %i twice in the same way, step by step', async (seed) => {
  const once: string[] = []
  const again: string[] = []
  const first = await simulate(seed, (line) => void once.push(line))
  const second = await simulate(seed, (line) => void again.push(line))
  expect(again).toEqual(once)
  expect(second.hash).toBe(first.hash)
  expect(once.length).toBeGreaterThan(1_000)
})
