import { usd, type Usd } from '../../domain/money.ts'
import { costOf, type ModelPrice, worstCaseCost } from '../../domain/pricing.ts'
import type { Foreseen } from '../engine.ts'
import type { CallForecast } from './callForecast.ts'
import { secondsAt, type Speed } from './speed.ts'

export type Tally = {
  /** Null for a model without a price. */
  add(call: CallForecast, examples: number, price: ModelPrice | null): void
  sum(speed: Speed, callTimeoutMs: number): Foreseen
}

/** Sums up the calls of one stage. `worstKnown` is false where nobody knows how the provider counts. */
export const tally = (worstKnown: boolean): Tally => {
  let calls = 0
  let pricedCalls = 0
  let examples = 0
  let callSeconds = 0
  const input = { expected: 0, worst: 0 }
  const output = { expected: 0, worst: 0 }
  const cost = { expected: 0n, worst: 0n }
  const dollars = (nano: bigint): Usd | null => (calls > 0 && pricedCalls === 0 ? null : usd(nano))

  return {
    add({ inputTokens, outputTokens, seconds }, examplesOfCall, price) {
      calls += 1
      examples += examplesOfCall
      callSeconds += seconds
      input.expected += inputTokens.expected
      input.worst += inputTokens.worst
      // Of the sum, since a mean that is rounded call by call adds up to something else.
      const before = Math.round(output.expected)
      output.expected += outputTokens.expected
      output.worst += outputTokens.worst
      if (price === null) return
      pricedCalls += 1
      const usage = { inputTokens: inputTokens.expected, cachedInputTokens: 0, cacheWriteTokens: 0 }
      cost.expected += costOf({ ...usage, outputTokens: Math.round(output.expected) - before }, price)
      cost.worst += worstCaseCost({ inputTokens: inputTokens.worst, outputTokens: outputTokens.worst }, price)
    },
    sum: (speed, callTimeoutMs) => {
      const atWorst = (calls * callTimeoutMs) / 1_000
      const tokens = input.worst + output.worst
      return {
        calls,
        examples,
        inputTokens: { expected: input.expected, worst: worstKnown ? input.worst : null },
        outputTokens: { expected: Math.round(output.expected), worst: output.worst },
        costUsd: { expected: dollars(cost.expected), worst: worstKnown ? dollars(cost.worst) : null },
        seconds: {
          expected: secondsAt(speed, { calls, callSeconds, tokens }),
          worst: secondsAt(speed, { calls, callSeconds: atWorst, tokens }),
        },
      }
    },
  }
}
