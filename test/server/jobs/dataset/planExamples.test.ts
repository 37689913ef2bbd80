import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Family, families } from '../../../../server/jobs/dataset/families.ts'
import { planExamples } from '../../../../server/jobs/dataset/planExamples.ts'
import type { Chunk } from '../../../../server/jobs/dataset/stageResults.ts'

/** So many chunks for each document. */
const chunksOf = (...counts: readonly number[]): readonly Chunk[] =>
  counts.flatMap((count, document) =>
    Array.from({ length: count }, (_, nth) => ({ id: `${document}-${nth}`, document, start: nth, end: nth + 1, tokens: 30, headings: [] })),
  )

const planned = (over: Partial<Parameters<typeof planExamples>[0]> = {}) =>
  planExamples({ chunks: chunksOf(5, 3, 1), target: null, seed: 1, families, ...over })

describe('a plan', () => {
  test('makes one example of each chunk where no target is given', () => {
    expect(planned().map((each) => each.families.length)).toEqual(Array.from({ length: 9 }, () => 1))
  })

  test('makes no more than 2 500 examples where no target is given', () => {
    expect(planned({ chunks: chunksOf(3_000) })).toHaveLength(2_500)
  })

  test('serves every document before one is served twice', () => {
    const documents = planned({ target: 3 }).map(({ chunk }) => chunk.document)
    expect(documents).toEqual([0, 1, 2])
  })

  test('is another one for another seed', () => {
    expect(planned({ target: 4 })).toEqual(planned({ target: 4 }))
    expect(planned({ target: 4, seed: 2 })).not.toEqual(planned({ target: 4 }))
  })

  test('refuses a target that the chunks cannot give, and says how many they can', () => {
    expect(() => planned({ target: 37 })).toThrow(/^37 examples cannot be planned: 9 chunks in 4 families of example make 36 at most/)
  })

  test('is in the order of the chunks, no family twice in one, the families equal but for one, and chunks served in turn', () => {
    const wanted = fc.record({
      counts: fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 }).filter((counts) => counts.some((count) => count > 0)),
      share: fc.float({ min: 0, max: 1, noNaN: true }),
      seed: fc.nat(),
      families: fc.subarray<Family>([...families], { minLength: 1 }),
    })
    fc.assert(
      fc.property(wanted, ({ counts, share, seed, families: wantedFamilies }) => {
        const chunks = chunksOf(...counts)
        const target = Math.ceil(share * chunks.length * wantedFamilies.length)
        const plan = planExamples({ chunks, target, seed, families: wantedFamilies })
        const all = plan.flatMap((each) => each.families)
        expect(all).toHaveLength(target)
        expect(plan.map(({ chunk }) => chunk)).toEqual(chunks.filter(({ id }) => plan.some(({ chunk }) => chunk.id === id)))
        for (const each of plan) expect(new Set(each.families).size).toBe(each.families.length)
        const ofFamily = wantedFamilies.map((family) => all.filter((each) => each === family).length)
        expect(Math.max(...ofFamily) - Math.min(...ofFamily)).toBeLessThanOrEqual(1)
        const ofChunk = chunks.map(({ id }) => plan.find(({ chunk }) => chunk.id === id)?.families.length ?? 0)
        expect(Math.max(...ofChunk) - Math.min(...ofChunk)).toBeLessThanOrEqual(1)
      }),
      { seed: 20_261_202 },
    )
  })
})
