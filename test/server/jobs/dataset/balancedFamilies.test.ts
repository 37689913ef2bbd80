import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { familySurplus } from '../../../../server/jobs/dataset/balancedFamilies.ts'
import { families, type Family } from '../../../../server/jobs/dataset/families.ts'

type Member = { readonly id: string; readonly family: Family }

const members = (counts: Partial<Record<Family, number>>): readonly Member[] =>
  families.flatMap((family) => Array.from({ length: counts[family] ?? 0 }, (_, nth) => ({ id: `${nth}-0-${family}`, family })))

const balanced = async (given: readonly Member[], seed = 1): Promise<readonly Member[]> => {
  const surplus = await familySurplus(given, seed)
  return given.filter(({ id }) => !surplus.has(id))
}

const countOf = (given: readonly Member[], family: Family): number => given.filter((each) => each.family === family).length
const countsOf = (given: readonly Member[]): readonly number[] =>
  families.map((family) => countOf(given, family)).filter((count) => count > 0)

describe('the surplus of families', () => {
  test.each([
    ['none at all', {}, []],
    ['a single family, whatever its size', { summary: 9 }, [9]],
    ['families of one size', { summary: 5, definition: 5, explanation: 5 }, [5, 5, 5]],
    ['one that has just its share and a half', { summary: 9, definition: 3 }, [9, 3]],
    ['one that has more by what rounding up gives', { summary: 11, definition: 3 }, [11, 3]],
    ['one that has one more', { summary: 13, definition: 3 }, [12, 3]],
    ['one that has far more, by what is left of it', { question_answer: 100, summary: 10, definition: 10 }, [21, 10, 10]],
    ['two that have more', { question_answer: 30, explanation: 20, summary: 2, definition: 2 }, [9, 9, 2, 2]],
    ['one beside a single example', { question_answer: 100, summary: 1 }, [6, 1]],
  ])('is cut from %s', async (_, counts, left) => {
    expect(countsOf(await balanced(members(counts)))).toEqual(left)
  })

  test('is drawn by the seed, and not by the order', async () => {
    const given = members({ question_answer: 40, summary: 5 })
    const kept = await balanced(given)
    expect(await balanced(given)).toEqual(kept)
    expect((await balanced(given.toReversed())).toReversed()).toEqual(kept)
    expect(await balanced(given, 2)).not.toEqual(kept)
    expect(kept).not.toEqual(members({ question_answer: 18, summary: 5 }))
  })

  test('leaves no family over its share, keeps the small ones whole, and is empty the second time', async () => {
    const size = fc.oneof(fc.nat(6), fc.nat(120))
    const mixes = fc.record({ question_answer: size, explanation: size, summary: size, definition: size })
    await fc.assert(
      fc.asyncProperty(mixes, fc.nat(), async (counts, seed) => {
        const kept = await balanced(members(counts), seed)
        const left = countsOf(kept)
        const most = Math.ceil((1.5 * kept.length) / Math.max(1, left.length))
        for (const family of families) {
          const count = countOf(kept, family)
          expect(left.length === 1 || count <= most).toBe(true)
          expect(count === counts[family] || count === Math.max(...left)).toBe(true)
          expect(count > 0).toBe(counts[family] > 0)
        }
        expect(await balanced(kept, seed)).toEqual(kept)
      }),
      { seed: 20_261_201, numRuns: 60 },
    )
  })
})
