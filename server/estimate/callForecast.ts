import type { Provider } from '../../domain/ports/provider.ts'
import { worstCaseTokens } from '../../domain/pricing.ts'
import { utf8Bytes } from '../../domain/utf8.ts'
import type { ForeseenCall } from '../defineJob.ts'
import type { Estimate, Forecast } from '../engine.ts'
import type { Pace } from './pace.ts'

export type CallForecast = {
  readonly inputTokens: Forecast<number>
  /** Expected in fractions: a mean is seldom whole. */
  readonly outputTokens: Forecast<number>
  readonly seconds: number
  readonly basis: Estimate['basis']
}

/** As texts of most languages come to, near enough, with any tokenizer. */
const bytesPerToken = 4

/** A guess, where nothing has been measured: until the first token, and from then on. */
const secondsToFirstToken = 2
const tokensPerSecond = 50

/** How a provider counts; `worst` is then what a reservation of the call takes. */
export type Counting = Pick<Provider, 'framing' | 'countTokens'>

export const callForecast = ({ request, outputTokens }: ForeseenCall, counting: Counting, pace: Pace | null): CallForecast => {
  // The worst case counts each byte of a text whose tokenizer is not known.
  let uncountedBytes = 0
  const worst = worstCaseTokens(request, {
    framing: counting.framing,
    countTokens: (model, text) => {
      const tokens = counting.countTokens(model, text)
      if (tokens === null) uncountedBytes += utf8Bytes(text)
      return tokens
    },
  })
  const told = outputTokens ?? pace?.outputTokens
  const output = Math.min(told ?? worst.outputTokens / 2, worst.outputTokens)
  return {
    inputTokens: { expected: worst.inputTokens - uncountedBytes + Math.ceil(uncountedBytes / bytesPerToken), worst: worst.inputTokens },
    outputTokens: { expected: output, worst: worst.outputTokens },
    seconds: pace?.seconds ?? secondsToFirstToken + output / tokensPerSecond,
    basis: outputTokens !== undefined ? 'definition' : pace !== null ? 'history' : 'guess',
  }
}
