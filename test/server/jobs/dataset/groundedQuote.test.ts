import { array, assert, constantFrom, integer, nat, property, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { groundedQuote, isSameQuote } from '../../../../server/jobs/dataset/groundedQuote.ts'

const sliceOf = (text: string, quote: string, range = { start: 0, end: text.length }): string | null => {
  const found = groundedQuote(text, range, quote)
  return found === null ? null : text.slice(found.start, found.end)
}

describe('a quote', () => {
  test.each([
    ['letter for letter', 'The gate opens at six.', 'opens at six', 'opens at six'],
    ['across a line break', 'The gate\n   opens.', 'The gate opens.', 'The gate\n   opens.'],
    ['where the source has a no-break space', 'It is 9\u00a0m deep.', 'is 9 m deep', 'is 9\u00a0m deep'],
    ['with straight quotation marks for curly ones', 'She said “go” – at once.', 'She said "go" - at once.', 'She said “go” – at once.'],
    ['with an apostrophe of another kind', 'the ship’s bell', "ship's bell", 'ship’s bell'],
    ['with a dash for two hyphens', 'salt--and wind', 'salt — and wind', 'salt--and wind'],
    ['without the source’s emphasis', 'The **outer** _gate_ is `shut`.', 'The outer gate is shut.', 'The **outer** _gate_ is `shut`.'],
    ['with emphasis of its own', 'The outer gate is shut.', '**outer** gate', 'outer gate'],
    ['with a ligature spelled out', 'the ﬁrst oﬃce', 'first office', 'ﬁrst oﬃce'],
    ['with a soft hyphen left out', 'the har\u00adbour wall', 'harbour wall', 'har\u00adbour wall'],
    ['with an ellipsis as three dots', 'and so on…', 'so on...', 'so on…'],
    ['composed where the source is not', 'le cafe\u0301 noir', 'café noir', 'cafe\u0301 noir'],
    ['in another case', 'THE GATE OPENS.', 'The gate opens.', 'THE GATE OPENS.'],
    ['with ß in capitals', 'Die Straße ist zu.', 'STRASSE IST', 'Straße ist'],
    ['of a script without spaces, over a line break', '港口的\n水很深。', '港口的水很深', '港口的\n水很深'],
  ])('is found %s', (_, text, quote, slice) => {
    expect(sliceOf(text, quote)).toBe(slice)
  })

  test('is found letter for letter before it is found any other way', () => {
    expect(groundedQuote('THE gate. The  gate. The gate.', { start: 0, end: 30 }, 'The gate')).toEqual({ start: 21, end: 29 })
    expect(groundedQuote('THE gate. The  gate.', { start: 0, end: 20 }, 'The gate')).toEqual({ start: 10, end: 19 })
  })

  test('is found in its chunk alone, at offsets into the whole text', () => {
    const text = 'The gate. The quay. The gate.'
    expect(groundedQuote(text, { start: 10, end: 29 }, 'The gate')).toEqual({ start: 20, end: 28 })
    expect(sliceOf(text, 'The quay', { start: 0, end: 14 })).toBeNull()
  })

  test.each([
    ['words the source does not have', 'The gate opens at six.', 'The gate opens at nine.'],
    ['two stretches of it', 'The gate opens. It shuts.', 'The gate shuts.'],
    ['nothing', 'The gate.', ''],
    ['marks alone', 'The gate – it **shuts**.', ' ** – '],
    ['half of a character', 'A 𝒳 here.', '\ud835'],
    ['a letter without its accent', 'cafe\u0301', 'cafe'],
    ['half of a ligature', 'the ﬁne', 'the f'],
  ])('of %s is not found', (_, text, quote) => {
    expect(sliceOf(text, quote)).toBeNull()
  })

  const pieces = ['gate', 'Quay ', ' “so” ', '–', '**', '𝒳', 'e\u0301', 'ﬁ', 'ß', 'İ', '…', '港', ' \n', 'Σς', '½', 'a', 'ab', '\u00ad']
  const changes: readonly ((character: string) => string)[] = [
    (character) => character,
    (character) => (/\p{M}/u.test(character) ? character : ` ${character}`),
    (character) => (/\p{L}/u.test(character) ? `*${character}` : character),
    (character) => character.replace(/[“”]/, '"'),
    (character) => character.toUpperCase(),
  ]
  const changed = (quote: string, ways: readonly number[]): string =>
    Array.from(quote, (character, at) => changes[ways[at % ways.length]!]!(character)).join('')

  const example = record({
    text: array(constantFrom(...pieces), { minLength: 1, maxLength: 20 }),
    from: nat(19),
    length: integer({ min: 1, max: 8 }),
    ways: array(nat(changes.length - 1), { minLength: 1, maxLength: 7 }),
  })

  test('is found by whoever changes only what does not count, as whole characters that say the same', () => {
    assert(
      property(example, ({ text, from, length, ways }) => {
        const quote = changed(text.slice(from, from + length).join(''), ways)
        const slice = sliceOf(text.join(''), quote)
        if (slice === null) expect(isSameQuote(quote, '')).toBe(true)
        else expect(isSameQuote(slice, quote)).toBe(true)
        expect(slice ?? '').not.toMatch(/^\p{M}|^\p{Surrogate}|\p{Surrogate}$/u)
      }),
      { seed: 7, numRuns: 1_000 },
    )
  })

  test('is found, or not, in time whatever the source repeats', () => {
    const text = 'a'.repeat(60_000)
    expect(groundedQuote(text, { start: 0, end: text.length }, `${'a'.repeat(30_000)}b`)).toBeNull()
    expect(groundedQuote(text, { start: 0, end: text.length }, `B${'a'.repeat(30_000)}`)).toBeNull()
    const accents = '\u0301'.repeat(60_000)
    expect(groundedQuote(`a${accents}b`, { start: 0, end: 60_002 }, 'ab')).toBeNull()
  })
})
