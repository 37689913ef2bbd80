import { describe, expect, test } from 'vitest'
import { isAmong, numbersIn, valuesIn } from '../../../../../server/jobs/dataset/sift/numbersIn.ts'
import { numberWordsIn } from '../../../../../server/jobs/dataset/sift/numberWords.ts'

describe('a number', () => {
  test.each([
    ['1,250', '1250'],
    ['1.250', '1250'],
    ['1 250', '1250'],
    ['1\u202f250', '1250'],
    ['1’250', '1250'],
    ['1,234,567.50', '1234567.5'],
    ['1.234.567,5', '1234567.5'],
    ['12.50', '12.5'],
    ['12,5 %', '12.5'],
    ['0.125', '0.125'],
    ['007', '7'],
    ['0', '0'],
    ['21st', '21'],
    ['CO₂', '2'],
    ['٣٫٥', '3.5'],
    ['１２', '12'],
  ])('%s is read as %s', (text, value) => {
    expect(numbersIn(text).map((number) => number.value)).toEqual([value])
  })

  test('may be several in a row', () => {
    expect(valuesIn('12.05.2021')).toEqual(new Set(['12', '5', '2021']))
    expect(valuesIn('of 12 100')).toEqual(new Set(['12100', '12', '100']))
    expect(valuesIn('in 2020 100 boats')).toEqual(new Set(['2020', '100']))
    expect(valuesIn('from 6:30 to 7-8')).toEqual(new Set(['6', '30', '7', '8']))
  })

  test('is among others by its value, or by each of its row', () => {
    const known = new Set(['12', '100', '2.5'])
    const isKnown = (text: string): boolean => numbersIn(text).every((number) => isAmong(number, known))
    expect(['2,50', '12', '12 100'].map(isKnown)).toEqual([true, true, true])
    expect(['25', '2', '12 101', '12.100.5'].map(isKnown)).toEqual([false, false, false, false])
  })
})

test.each([
  ['Twenty-five boats and a third', ['20', '5', '25', '3']],
  ['zwölf und fünfundzwanzig', ['12', '25']],
  ['vingt et un', ['20', '1', '21']],
  ['treinta y dos', ['30', '2', '32']],
  ['attend the tension', []],
])('the number words of “%s” have values', (text, values) => {
  expect(numberWordsIn(text)).toEqual(new Set(values))
})
