import { assert, integer, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { newestFirst } from '../../projections/newestFirst.ts'

const positions = string({ unit: integer({ min: 0x21, max: 0x7d }).map((code) => String.fromCharCode(code)) })

test('turns the order of any two positions around, also where one begins with the other (seed 7)', () => {
  assert(
    property(positions, positions, positions, (left, right, tail) => {
      for (const [one, other] of [[left, right], [left, left + tail]] as const) {
        expect(newestFirst(one) > newestFirst(other)).toBe(one < other)
      }
    }),
    { seed: 7 },
  )
})

test('refuses a position that it could not turn around', () => {
  expect(() => newestFirst('10 ')).toThrow(RangeError)
  expect(() => newestFirst('~')).toThrow('"~" is not printable ASCII')
})
