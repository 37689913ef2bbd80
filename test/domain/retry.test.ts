import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { askedDelayMs, askedMsMax, backoffMs, chooseDelay, retryPolicy } from '../../domain/retry.ts'

const seed = 20_260_106
const luck = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })
const attempt = fc.integer({ min: 1, max: 5_000 })

describe(`our own wait (seed ${seed})`, () => {
  test('is between half a step and a step, and never over the cap', () => {
    fc.assert(
      fc.property(attempt, luck, (tries, drawn) => {
        const step = Math.min(60_000, 1_000 * 2 ** (tries - 1))
        const delayMs = backoffMs(tries, drawn)
        expect(delayMs).toBeGreaterThanOrEqual(step / 2)
        expect(delayMs).toBeLessThanOrEqual(step)
        expect(Number.isSafeInteger(delayMs)).toBe(true)
      }),
      { seed },
    )
  })

  test.each([
    [1, 0, 500],
    [1, 0.5, 750],
    [2, 0, 1_000],
    [3, 0, 2_000],
    [7, 0, 30_000],
    [100, 0.5, 45_000],
  ])('after try %i with luck %f is %i ms', (tries, drawn, delayMs) => {
    expect(backoffMs(tries, drawn)).toBe(delayMs)
  })

  test('is drawn by the policy that both tiers share', () => {
    expect(retryPolicy).toEqual({ delayMsMin: 1_000, delayMsMax: 60_000, attemptsMax: 3 })
  })
})

describe(`the wait a provider asked for (seed ${seed})`, () => {
  const asked = fc.integer({ min: 0, max: 3_600_000 })

  test('is a lower bound, with no more on top than half of it or a second', () => {
    fc.assert(
      fc.property(asked, luck, (askedMs, drawn) => {
        const delayMs = askedDelayMs(askedMs, drawn)
        expect(delayMs).toBeGreaterThanOrEqual(askedMs)
        expect(delayMs).toBeLessThanOrEqual(Math.ceil(askedMs + Math.max(1_000, askedMs / 2)))
        expect(Number.isSafeInteger(delayMs)).toBe(true)
      }),
      { seed },
    )
  })

  test('is chosen over our own and keeps the luck it was drawn with', () => {
    const chosen = chooseDelay({ attempt: 3, askedMs: 30_000, luck: 0.5 })
    expect(chosen).toEqual({ delayMs: 37_500, reason: 'retry_after', luck: 0.5 })
  })

  test.each([
    ['could not be read', null],
    ['lies in the past', -5_000],
    ['is beyond a year', askedMsMax + 1],
    ['no calendar knows', 1e300],
    ['is not a number', Number.NaN],
    ['is for ever', Number.POSITIVE_INFINITY],
  ])('means our own when it %s, never "now"', (_how, askedMs) => {
    expect(chooseDelay({ attempt: 1, askedMs, luck: 0.5 })).toEqual({ delayMs: 750, reason: 'backoff', luck: 0.5 })
  })
})
