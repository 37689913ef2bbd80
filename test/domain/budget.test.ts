import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  check,
  committed,
  defaultLimits,
  firstExceeded,
  firstLowered,
  minus,
  nothing,
  plus,
} from '../../domain/budget.ts'
import { BudgetExceededError } from '../../domain/errors.ts'
import type { Amounts, Limits } from '../../domain/job/events.ts'
import { nanoUsd, usd } from '../../domain/money.ts'
import { amounts, limits, milliUsd, noLimits } from '../support/controls.ts'

const seed = 20_260_105
const someAmounts: fc.Arbitrary<Amounts> = fc.record({
  costUsd: fc.nat(10_000).map((nano) => usd(BigInt(nano))),
  calls: fc.nat(20),
  inputTokens: fc.nat(5_000),
  outputTokens: fc.nat(5_000),
  examples: fc.nat(20),
})
const someLimits: fc.Arbitrary<Limits> = fc.record({
  maximumCostUsd: fc.option(fc.nat(30_000).map((nano) => usd(BigInt(nano)))),
  maximumCalls: fc.option(fc.nat(60)),
  maximumInputTokens: fc.option(fc.nat(15_000)),
  maximumOutputTokens: fc.option(fc.nat(15_000)),
  maximumDurationSeconds: fc.option(fc.nat(100)),
  maximumExamples: fc.option(fc.nat(60)),
})

describe(`a budget (seed ${seed})`, () => {
  test('has room exactly when settled, held, reserved and the next call together are within every limit', () => {
    const within = (limit: number | bigint | null, sum: number | bigint): boolean => limit === null || sum <= limit
    fc.assert(
      fc.property(someLimits, someAmounts, someAmounts, someAmounts, someAmounts, (of, spent, held, reserved, next) => {
        const all = [spent, held, reserved, next]
        const sum = (name: 'calls' | 'inputTokens' | 'outputTokens' | 'examples') =>
          all.reduce((total, each) => total + each[name], 0)
        const cost = all.reduce((total, each) => total + nanoUsd(each.costUsd), 0n)
        const hasRoom =
          within(of.maximumCostUsd && nanoUsd(of.maximumCostUsd), cost) &&
          within(of.maximumCalls, sum('calls')) &&
          within(of.maximumInputTokens, sum('inputTokens')) &&
          within(of.maximumOutputTokens, sum('outputTokens')) &&
          within(of.maximumExamples, sum('examples'))
        expect(firstExceeded(of, { spent, held, reserved }, next) === null).toBe(hasRoom)
      }),
      { seed, numRuns: 1_000 },
    )
  })

  test('adds amounts up and takes them away again', () => {
    fc.assert(
      fc.property(someAmounts, someAmounts, (left, right) => {
        expect(minus(plus(left, right), right)).toEqual(left)
      }),
      { seed },
    )
  })

  test('counts what is settled, held and reserved as committed', () => {
    expect(committed({ spent: amounts(), held: amounts(), reserved: nothing })).toEqual(
      amounts({ costUsd: milliUsd(200), calls: 2, inputTokens: 200, outputTokens: 400, examples: 2 }),
    )
  })

  test('gives no more back than was taken', () => {
    expect(() => minus(amounts(), amounts({ calls: 2 }))).toThrow('calls cannot be negative')
    expect(() => minus(amounts(), amounts({ costUsd: milliUsd(101) }))).toThrow(RangeError)
  })

  test('raises BudgetExceededError before a limit is crossed, and says which and by what', () => {
    const spent = amounts({ costUsd: milliUsd(901) })
    const raise = () => check(limits(), { spent, held: nothing, reserved: nothing }, amounts())
    expect(raise).toThrow(BudgetExceededError)
    expect(raise).toThrow('maximumCostUsd is 1; with this call at its worst it would be 1.001')
    expect(() => check(limits(), { spent: amounts(), held: nothing, reserved: nothing }, amounts())).not.toThrow()
  })

  test('is 50 dollars, 10 000 calls and 2 500 examples unless somebody says otherwise', () => {
    expect(defaultLimits).toEqual({
      ...noLimits,
      maximumCostUsd: '50',
      maximumCalls: 10_000,
      maximumExamples: 2_500,
    })
  })

  test('is raised by anything that lowers none of its limits, and null is above every number', () => {
    expect(firstLowered(limits(), {})).toBeNull()
    expect(firstLowered(limits(), { maximumCalls: 10, maximumCostUsd: milliUsd(1_000) })).toBeNull()
    expect(firstLowered(limits(), { maximumCalls: null, maximumCostUsd: null })).toBeNull()
    expect(firstLowered(noLimits, { maximumCalls: null })).toBeNull()
    expect(firstLowered(noLimits, { maximumCalls: 1_000_000 })).toBe('maximumCalls')
    expect(firstLowered(limits(), { maximumDurationSeconds: 3_599.9 })).toBe('maximumDurationSeconds')
  })
})
