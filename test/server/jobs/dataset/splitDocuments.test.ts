import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { splitDocuments } from '../../../../server/jobs/dataset/splitDocuments.ts'

const document = (text: string) => ({ source: `original of ${text}`, text })
const documents = (count: number) => Array.from({ length: count }, (_, nth) => document(`text ${nth}`))
const testing = (count: number, testShare: number, seed = 1) =>
  [...splitDocuments(documents(count), { testShare, seed })].flatMap(([text, split]) => (split === 'test' ? [text] : []))

test('documents with a share of the examples, or a little more, are for testing', () => {
  expect(testing(100, 0.1)).toHaveLength(12)
  expect(testing(10, 0.25)).toHaveLength(3)
})

test('a document with most of the examples is for training, and of documents that are all too large the smallest is for testing', () => {
  const of = (text: string, count: number) => Array.from({ length: count }, () => document(text))
  for (let seed = 0; seed < 20; seed += 1) {
    const split = splitDocuments([...of('large', 80), ...of('one', 6), ...of('other', 5), ...of('third', 4)], { testShare: 0.1, seed })
    expect(split.get('large')).toBe('train')
    expect([...split.values()]).toContain('test')
    expect([...splitDocuments([...of('large', 80), ...of('small', 60)], { testShare: 0.1, seed })]).toContainEqual(['small', 'test'])
  }
})

test('another seed draws other documents, the same seed the same', () => {
  expect(testing(100, 0.1, 1)).toEqual(testing(100, 0.1, 1))
  expect(testing(100, 0.1, 2)).not.toEqual(testing(100, 0.1, 1))
})

test('documents of one text are on one side', () => {
  const twice = [...documents(4), ...documents(4)]
  expect(splitDocuments(twice, { testShare: 0.5, seed: 1 })).toEqual(splitDocuments(documents(4), { testShare: 0.5, seed: 1 }))
})

test('documents of one original stay together however they were read, and with those that say the same as one of them', () => {
  const asHtml = { source: 'page', text: 'of tags' }
  const asPlain = { source: 'page', text: 'with tags' }
  const copy = { source: 'page with a mark', text: 'with tags' }
  for (let seed = 0; seed < 20; seed += 1) {
    for (const order of [[asHtml, asPlain, copy], [copy, asHtml, asPlain], [asHtml, copy, asPlain]]) {
      const split = splitDocuments([...order, ...documents(3)], { testShare: 0.5, seed })
      expect(split.get('of tags')).toBe(split.get('with tags'))
      expect(split).toEqual(splitDocuments([...documents(3), asHtml, asPlain, copy], { testShare: 0.5, seed }))
    }
  }
  expect([...splitDocuments([asHtml, asPlain, copy], { testShare: 0.5, seed: 1 }).values()]).toEqual(['train', 'train'])
})

test('whatever documents share, no original and no text is on both sides, in any order of the documents', () => {
  const pair = fc.record({ source: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), text: fc.constantFrom('t', 'u', 'v', 'w', 'x', 'y') })
  fc.assert(
    fc.property(fc.array(pair, { minLength: 1, maxLength: 12 }), fc.nat(), (pairs, seed) => {
      const split = splitDocuments(pairs, { testShare: 0.4, seed })
      const sidesOf = (source: string) => new Set(pairs.filter((each) => each.source === source).map(({ text }) => split.get(text)))
      for (const { source } of pairs) expect(sidesOf(source).size).toBe(1)
      expect(splitDocuments(pairs.toReversed(), { testShare: 0.4, seed })).toEqual(split)
    }),
    { seed: 11 },
  )
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
  const drawn = (order: readonly ReturnType<typeof document>[]) => splitDocuments(order, { testShare: 0.3, seed: 4 })
  const other = drawn(documents(20).toReversed())
  for (const [text, split] of drawn(documents(20))) expect(other.get(text)).toBe(split)
})
