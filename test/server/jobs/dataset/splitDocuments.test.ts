import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitDocuments } from '../../../../server/jobs/dataset/splitDocuments.ts'

const documents = (count: number) => Array.from({ length: count }, (_, nth) => ({ text: `text ${nth}` }))
const testing = (count: number, testShare: number, seed = 1) =>
  [...splitDocuments(documents(count), { testShare, seed })].flatMap(([text, split]) => (split === 'test' ? [text] : []))

test('a share of the documents is for testing', () => {
  expect(testing(100, 0.1)).toHaveLength(10)
  expect(testing(10, 0.25)).toHaveLength(3)
})

test('another seed draws other documents, the same seed the same', () => {
  expect(testing(100, 0.1, 1)).toEqual(testing(100, 0.1, 1))
  expect(testing(100, 0.1, 2)).not.toEqual(testing(100, 0.1, 1))
})

test('documents of one text are on one side', () => {
  const twice = [...documents(4), ...documents(4)]
  expect(splitDocuments(twice, { testShare: 0.5, seed: 1 })).toEqual(splitDocuments(documents(4), { testShare: 0.5, seed: 1 }))
})

test('whatever the share, both sides have some where there are two texts, and one text is for training', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 30 }), fc.double({ min: 0.001, max: 0.9, noNaN: true }), fc.nat(), (count, share, seed) => {
      const drawn = testing(count, share, seed).length
      expect(drawn).toBeGreaterThan(0)
      expect(drawn).toBeLessThan(count)
    }),
  )
  expect(testing(1, 0.9)).toEqual([])
  expect(testing(5, 0)).toEqual([])
})

test('what the order of the documents is does not matter', () => {
  const drawn = (order: readonly { text: string }[]) => splitDocuments(order, { testShare: 0.3, seed: 4 })
  const other = drawn(documents(20).toReversed())
  for (const [text, split] of drawn(documents(20))) expect(other.get(text)).toBe(split)
})
