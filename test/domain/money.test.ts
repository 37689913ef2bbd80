import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addUsd, nanoUsd, readUsd, subtractUsd, Usd, usd } from '../../domain/money.ts'

const seed = 20_260_103
const aNano = fc.bigInt({ min: 0n, max: 10n ** 24n - 1n })

describe(`an amount of money (seed ${seed})`, () => {
  test('reads back as it was written, to the last of nine decimals', () => {
    fc.assert(
      fc.property(aNano, (nano) => {
        expect(nanoUsd(usd(nano))).toBe(nano)
      }),
      { seed },
    )
  })

  test('is written without sign, exponent or trailing zeros', () => {
    fc.assert(
      fc.property(aNano, (nano) => {
        expect(usd(nano)).toMatch(/^(0|[1-9]\d*)(\.\d{0,8}[1-9])?$/)
      }),
      { seed },
    )
  })

  test.each([
    [0n, '0'],
    [1n, '0.000000001'],
    [960_000_000n, '0.96'],
    [1_000_000_000n, '1'],
    [16_150_000_000n, '16.15'],
    [100n * 10n ** 9n, '100'],
  ])('of %s nano-USD is written as %s', (nano, text) => {
    expect(usd(nano)).toBe(text)
  })

  test('adds up without rounding: ten thousand times 0.001615 is exactly 16.15', () => {
    let total = usd(0n)
    for (let call = 0; call < 10_000; call += 1) total = addUsd(total, Usd.parse('0.001615'))
    expect(total).toBe('16.15')
  })

  test('taken away from a sum leaves the rest, and never less than nothing', () => {
    fc.assert(
      fc.property(aNano, aNano, (left, right) => {
        const sum = usd(left + right <= 10n ** 24n - 1n ? left + right : left)
        expect(subtractUsd(sum, usd(left))).toBe(usd(nanoUsd(sum) - left))
      }),
      { seed },
    )
    expect(() => subtractUsd(usd(1n), usd(2n))).toThrow(RangeError)
    expect(() => usd(-1n)).toThrow('cannot be negative')
  })

  test.each([
    '1.0',
    '01',
    '.5',
    '1.',
    '-1',
    '+1',
    '1e3',
    '1.6150000000000001e-3',
    '0.0000000001',
    '',
    ' 1',
    '1,5',
    'NaN',
  ])('is never stored as %j', (text) => {
    expect(Usd.safeParse(text).success).toBe(false)
  })

  test.each([
    ['1', '1'],
    ['1.00', '1'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['007.10', '7.1'],
    ['0.000000001', '0.000000001'],
  ])('that a person types as %j is read as %s', (typed, amount) => {
    expect(readUsd(typed)).toBe(amount)
  })

  test.each(['', '.', '-1', '+1', '1e3', '0.0000000001', '1_000', '1,5', '$1', ' 1', '1 ', '١', '9'.repeat(16)])(
    'that a person types as %j is not guessed at',
    (typed) => {
      expect(readUsd(typed)).toBeNull()
    },
  )
})
