import { describe, expect, test } from 'vitest'
import type { Family } from '../../../../server/jobs/dataset/families.ts'
import { nearDuplicates } from '../../../../server/jobs/dataset/nearDuplicates.ts'
import { randomFrom } from '../../../contract/seededRandom.ts'

const question = 'what does the sea gate do'
const text =
  'the sea gate of the harbour opens at six each morning and lets the boats through until the tide has turned ' +
  'while the keeper of the lock notes the name of every boat and the hour at which it left'

const changed = (given: string, places: readonly number[]): string =>
  given.split(' ').map((word, nth) => (places.includes(nth) ? `other${nth}` : word)).join(' ')

type Given = { readonly family?: Family; readonly question?: string; readonly answer: string }

/** What the last of these repeats: its number, and how much is the same. */
const lastOf = (...given: readonly Given[]) => {
  const nearestTo = nearDuplicates<{ readonly family: Family; readonly nth: number }>()
  const found = given.map(({ family = 'summary', answer, question: asked = question }, nth) =>
    nearestTo({ family, nth }, { question: asked, answer }),
  )
  const last = found.at(-1)
  return last ? { of: last.example.nth, similarity: Number(last.similarity.toFixed(3)) } : null
}

describe('a near duplicate', () => {
  test('has four fifths of its shingles, of three words each, in common with another', () => {
    // There are 43. A word changed amid them is in three, the last but one in two, the last in one.
    expect(lastOf({ answer: text }, { answer: changed(text, [20]) })).toEqual({ of: 0, similarity: 0.87 })
    expect(lastOf({ answer: text }, { answer: changed(text, [20, 39]) })).toEqual({ of: 0, similarity: 0.83 })
    expect(lastOf({ answer: text }, { answer: changed(text, [20, 38]) })).toBeNull()
  })

  test('repeats the most similar', () => {
    const [like, liker] = [{ answer: changed(text, [5, 39]) }, { answer: changed(text, [30]) }]
    expect(lastOf(like, liker)).toBeNull()
    expect(lastOf(like, liker, { answer: text })).toMatchObject({ of: 1 })
    expect(lastOf(liker, like, { answer: text })).toMatchObject({ of: 0 })
  })

  test('does not repeat what was a repeat itself', () => {
    const repeat = { answer: changed(text, [20]) }
    const ofRepeat = { answer: changed(text, [20, 38]) }
    expect(lastOf(repeat, ofRepeat)).toMatchObject({ of: 0 })
    expect(lastOf({ answer: text }, repeat, ofRepeat)).toBeNull()
  })

  test('is not of another family with another question', () => {
    const first: Given = { family: 'summary', answer: `${text} ${changed(text, [1, 4, 9])}` }
    const other = 'explain the gate'
    expect(lastOf(first, { ...first, question: other })).toMatchObject({ of: 0 })
    expect(lastOf(first, { ...first, family: 'definition' })).toEqual({ of: 0, similarity: 1 })
    expect(lastOf(first, { ...first, family: 'definition', question: other })).toBeNull()
  })

  test('is found in a script without spaces, and not by its single characters', () => {
    const gate = '港の水門は毎朝六時に開き潮が変わるまで船を通し番人はすべての船の名前と出た時刻を記録する'
    const first = { question: '水門は何をするか', answer: gate }
    expect(lastOf(first, { ...first, answer: gate.replace('六', '七') })).toMatchObject({ of: 0 })
    const reversed = Array.from(gate).toReversed().join('')
    expect(lastOf(first, { ...first, answer: reversed })).toBeNull()
  })

  test('of a few words is the same in all of them', () => {
    expect(lastOf({ question: 'gate', answer: 'opens' }, { question: 'gate', answer: 'shuts' })).toBeNull()
    expect(lastOf({ question: 'gate', answer: 'opens' }, { question: 'gate opens', answer: '' })).toEqual({ of: 0, similarity: 1 })
  })

  test('is found among many that share a phrase with it (seed 7)', () => {
    const random = randomFrom(7)
    const words = (count: number): string => Array.from({ length: count }, () => `w${random.below(5_000)}`).join(' ')
    const many = Array.from({ length: 400 }, () => ({ answer: `${words(14)} ${text} ${words(14)}` }))
    const repeated = many[0]?.answer ?? ''
    expect(lastOf(...many)).toBeNull()
    expect(lastOf(...many, { answer: changed(repeated, [3]) })).toMatchObject({ of: 0 })
  })
})
