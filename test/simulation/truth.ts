import { nanoUsd, usd } from '../../domain/money.ts'
import type { CallRequest } from '../../domain/ports/provider.ts'
import { costOf, type ModelPrice, type PriceProfile, type Usage } from '../../domain/pricing.ts'
import type { Chance } from './chance.ts'

export const model = 'sim-1'
export const providerName = 'sim'

const price: ModelPrice = {
  inputPerMTok: '1000',
  cachedInputPerMTok: '100',
  outputPerMTok: '2000',
  perCall: '0.000123',
}

export const prices: PriceProfile = {
  id: 'simulated',
  effectiveFrom: '2020-01-01',
  provider: providerName,
  models: { [model]: price },
}

/** How the provider of one seed answers: the same request always alike. */
export type Manner = ReturnType<typeof mannerOf>

export const mannerOf = (chance: Chance) => ({
  salt: chance.whole(0, 1_000_000),
  cached: chance.hits(0.4),
  impossibleUsage: chance.hits(0.25) ? 0.2 : 0,
  overruns: chance.hits(0.2) ? 0.15 : 0,
  blocks: chance.hits(0.2) ? 0.15 : 0,
  invalid: chance.hits(0.15) ? 0.15 : 0,
  longAnswers: chance.hits(0.3) ? 0.2 : 0,
})

export type Truth = {
  readonly refusal: 'policy_block' | 'invalid_request' | null
  readonly text: string
  /** What is on the bill. */
  readonly usage: Usage
  readonly billedNanoUsd: bigint
  /** What the answer says is on the bill: null when its numbers cannot be. */
  readonly reported: Usage | null
}

export const truthOf = (request: CallRequest, manner: Manner): Truth => {
  const content = request.messages.map((message) => message.content).join('\n')
  const hash = hashOf(`${manner.salt} ${content} ${request.maxOutputTokens}`)
  const share = (part: number): number => (hashOf(`${part} ${hash}`) % 1_000) / 1_000
  const input = Math.floor(content.length / 3) + 1
  const cached = manner.cached ? Math.floor(input * share(1)) : 0
  const output = 1 + (hash % request.maxOutputTokens)
  const usage: Usage = {
    inputTokens: input - cached,
    cachedInputTokens: cached,
    cacheWriteTokens: 0,
    outputTokens: share(2) < manner.overruns ? output + request.maxOutputTokens : output,
  }
  const word = `answer ${hash} `
  return {
    refusal: share(3) < manner.blocks ? 'policy_block' : share(4) < manner.invalid ? 'invalid_request' : null,
    text: share(5) < manner.longAnswers ? word.repeat(2_000) : word,
    usage,
    billedNanoUsd: costOf(usage, price),
    reported: share(6) < manner.impossibleUsage ? null : usage,
  }
}

/** What the ledger books for an answer that reached its owner. */
export const bookedUsd = (truth: Truth, worstCaseUsd: string): string =>
  truth.reported === null ? worstCaseUsd : usd(truth.billedNanoUsd)

export const nano = nanoUsd

const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}
