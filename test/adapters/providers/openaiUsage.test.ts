import { describe, expect, test } from 'vitest'
import { openaiUsage } from '../../../adapters/providers/openaiUsage.ts'
import { usd } from '../../../domain/money.ts'
import { costOf, type ModelPrice } from '../../../domain/pricing.ts'
import { scriptedOpenai } from './scriptedHttp.ts'

const price: ModelPrice = { inputPerMTok: '2.00', cachedInputPerMTok: '0.20', outputPerMTok: '8.00' }
const tokens = { inputTokens: 1_000, cachedInputTokens: 9_000, cacheWriteTokens: 0, outputTokens: 500 }
const inside = {
  prompt_tokens: 10_000,
  completion_tokens: 500,
  total_tokens: 10_500,
  prompt_tokens_details: { cached_tokens: 9_000 },
}
const beside = { prompt_tokens: 1_000, completion_tokens: 500, prompt_tokens_details: { cached_tokens: 9_000 } }

describe('O-11: cached tokens are charged once', () => {
  const openai = scriptedOpenai()

  test.each([
    ['cached_inside', inside],
    ['cached_beside', beside],
  ] as const)('whether they are reported %s', async (usageDialect, usage) => {
    const answer = await openai.answer({ usage }, { usageDialect })
    expect(answer.usage).toEqual(tokens)
    expect(answer.usage && usd(costOf(answer.usage, price))).toBe('0.0078')
  })

  test('an answer without usage is an answer, its usage unknown', async () => {
    expect(await openai.answer({ usage: null, text: 'Here.' })).toMatchObject({ text: 'Here.', usage: null })
  })
})

describe('O-11: usage that cannot be is none', () => {
  test.each([
    ['more cached than there was input', { ...inside, prompt_tokens: 8_999 }],
    ['a negative number', { ...inside, completion_tokens: -1 }],
    ['negative cached tokens', { ...inside, prompt_tokens_details: { cached_tokens: -1 } }],
    ['a missing number', { prompt_tokens: 10 }],
    ['a fraction', { prompt_tokens: 10.5, completion_tokens: 1 }],
    ['a number as text', { prompt_tokens: '10', completion_tokens: 1 }],
    ['a number beyond 2^53', { prompt_tokens: 2 ** 53, completion_tokens: 1 }],
    ['more reasoning than output', { ...inside, completion_tokens_details: { reasoning_tokens: 501 } }],
    ['no object', 'many'],
    ['nothing', undefined],
    ['null', null],
    ['inherited numbers', JSON.parse('{"__proto__":{"prompt_tokens":1,"completion_tokens":1}}')],
  ])('%s', (_, reported) => {
    expect(openaiUsage(reported, 'cached_inside')).toBeNull()
  })
})

describe('usage is read', () => {
  test('with reasoning tokens inside of the output', () => {
    const reported = { ...inside, completion_tokens_details: { reasoning_tokens: 400 } }
    expect(openaiUsage(reported, 'cached_inside')).toEqual({ ...tokens, reasoningTokens: 400 })
  })

  test('with reasoning tokens that stand beside the output, as the total shows, added to it', () => {
    const reported = { ...inside, total_tokens: 10_900, completion_tokens_details: { reasoning_tokens: 400 } }
    expect(openaiUsage(reported, 'cached_inside')).toEqual({ ...tokens, outputTokens: 900, reasoningTokens: 400 })
    const more = { ...inside, total_tokens: 11_500, completion_tokens_details: { reasoning_tokens: 1_000 } }
    expect(openaiUsage(more, 'cached_inside')).toMatchObject({ outputTokens: 1_500, reasoningTokens: 1_000 })
  })

  test('with details that are null', () => {
    const reported = {
      prompt_tokens: 3,
      completion_tokens: 2,
      prompt_tokens_details: null,
      completion_tokens_details: null,
    }
    expect(openaiUsage(reported, 'cached_inside')).toMatchObject({ inputTokens: 3, outputTokens: 2 })
  })

  test.each(['cached_tokens', 'prompt_cache_hit_tokens', 'cache_read_input_tokens'])(
    'with cached tokens as %s',
    (name) => {
      expect(openaiUsage({ prompt_tokens: 10, completion_tokens: 1, [name]: 4 }, 'cached_inside')).toMatchObject({
        inputTokens: 6,
        cachedInputTokens: 4,
      })
    },
  )

  test('with what was written to the cache taken out of the input as well', () => {
    const reported = { ...inside, cache_creation_input_tokens: 600 }
    expect(openaiUsage(reported, 'cached_inside')).toEqual({ ...tokens, inputTokens: 400, cacheWriteTokens: 600 })
  })
})
