import { addUsd, type Usd, zeroUsd } from '../../domain/money.ts'
import type { Forecast, Foreseen } from '../engine.ts'

/** What stages take together, one after the other. Null is what is known of none of those that make calls. */
export const together = (stages: readonly Foreseen[]): Foreseen => {
  const calling = stages.filter(({ calls }) => calls > 0)
  const sum = (value: (stage: Foreseen) => number): number => calling.reduce((total, stage) => total + value(stage), 0)
  const sumKnown = <Value>(of: (stage: Foreseen) => Value | null, add: (left: Value, right: Value) => Value, zero: Value): Value | null => {
    const known = calling.map(of).filter((value) => value !== null)
    return known.length === 0 && calling.length > 0 ? null : known.reduce(add, zero)
  }
  const cost = (which: keyof Forecast<Usd>): Usd | null => sumKnown(({ costUsd }) => costUsd[which], addUsd, zeroUsd)
  return {
    calls: sum(({ calls }) => calls),
    examples: sum(({ examples }) => examples),
    inputTokens: {
      expected: sum(({ inputTokens }) => inputTokens.expected),
      worst: sumKnown(({ inputTokens }) => inputTokens.worst, (left, right) => left + right, 0),
    },
    outputTokens: { expected: sum(({ outputTokens }) => outputTokens.expected), worst: sum(({ outputTokens }) => outputTokens.worst) },
    costUsd: { expected: cost('expected'), worst: cost('worst') },
    seconds: { expected: sum(({ seconds }) => seconds.expected), worst: sum(({ seconds }) => seconds.worst) },
  }
}
