import { describe, expect, test } from 'vitest'
import { anthropicUsage } from '../../../adapters/providers/anthropicUsage.ts'
import { openaiUsage } from '../../../adapters/providers/openaiUsage.ts'
import type { UsageDialect } from '../../../adapters/providers/tokenUsage.ts'
import { usd } from '../../../domain/money.ts'
import { costOf, inputTokensOf, type ModelPrice } from '../../../domain/pricing.ts'
import { scriptedAnthropic } from './scriptedHttp.ts'

const price: ModelPrice = { inputPerMTok: '2.00', cachedInputPerMTok: '0.20', outputPerMTok: '8.00' }

/** What a call used, which every dialect says in its own way. */
type Used = { fresh: number; cached: number; written: number; output: number; reasoning: number }
type Said = (used: Used, input: number) => Record<string, unknown>

const inputOf = (used: Used, dialect: UsageDialect): number =>
  dialect === 'cached_inside' ? used.fresh + used.cached + used.written : used.fresh

const openaiSays: Said = ({ cached, written, output, reasoning }, input) => ({
  prompt_tokens: input,
  completion_tokens: output,
  prompt_tokens_details: { cached_tokens: cached },
  cache_creation_input_tokens: written,
  completion_tokens_details: { reasoning_tokens: reasoning },
})
const openaiInside: Said = (used, input) => ({ ...openaiSays(used, input), total_tokens: input + used.output })
/** Reasoning is left out of the output, and in the total. */
const openaiBeside: Said = (used, input) => ({
  ...openaiSays(used, input),
  completion_tokens: used.output - used.reasoning,
  total_tokens: input + used.output,
})
/** The total has all input, also where the input that is told has not. */
const openaiWhole: Said = (used, input) => ({
  ...openaiBeside(used, input),
  total_tokens: used.fresh + used.cached + used.written + used.output,
})
const anthropicSays: Said = ({ cached, written, output, reasoning }, input) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: cached,
  cache_creation_input_tokens: written,
  output_tokens_details: { thinking_tokens: reasoning },
})

const dialects: readonly UsageDialect[] = ['cached_inside', 'cached_beside']
const speakers = [
  ['openai', openaiUsage, openaiSays],
  ['openai with reasoning inside of the output, as the total shows', openaiUsage, openaiInside],
  ['openai with reasoning beside the output, as the total shows', openaiUsage, openaiBeside],
  ['openai with reasoning beside the output and all input in the total', openaiUsage, openaiWhole],
  ['anthropic', anthropicUsage, anthropicSays],
] as const
const matrix = speakers.flatMap(([name, read, say]) => dialects.map((dialect) => [name, dialect, read, say] as const))

describe.each(matrix)('%s, %s', (_, dialect, read, say) => {
  const usageOf = (used: Used) => read(say(used, inputOf(used, dialect)), dialect)

  test('O-11: charges nine thousand cached of ten thousand once', () => {
    const usage = usageOf({ fresh: 1_000, cached: 9_000, written: 0, output: 500, reasoning: 0 })
    expect(usage && usd(costOf(usage, price))).toBe('0.0078')
  })

  const counts = [0, 300]
  const used = counts.flatMap((cached) =>
    counts.flatMap((written) =>
      [0, 200, 500].map((reasoning): Used => ({ fresh: 40, cached, written, output: 500, reasoning })),
    ),
  )
  test.each(used)('tells apart $cached cached, $written written and $reasoning of reasoning', (each) => {
    const usage = usageOf(each)
    expect(usage).toEqual({
      inputTokens: 40,
      cachedInputTokens: each.cached,
      cacheWriteTokens: each.written,
      outputTokens: 500,
      reasoningTokens: each.reasoning,
    })
    expect(usage && inputTokensOf(usage)).toBe(40 + each.cached + each.written)
  })

  test('is none where the numbers cannot be', () => {
    const fine: Used = { fresh: 40, cached: 300, written: 300, output: 500, reasoning: 200 }
    const wrong: Partial<Used>[] = [{ fresh: -1 }, { cached: -1 }, { written: 0.5 }, { output: 199.5 }, { reasoning: 501 }]
    expect(usageOf(fine)).not.toBeNull()
    for (const each of wrong) expect(usageOf({ ...fine, ...each }), JSON.stringify(each)).toBeNull()
    if (dialect === 'cached_inside') expect(read(say(fine, 599), dialect)).toBeNull()
  })
})

describe('usage of the anthropic provider', () => {
  const anthropic = scriptedAnthropic()
  const beside = { input_tokens: 1_000, cache_read_input_tokens: 9_000, cache_creation_input_tokens: 0, output_tokens: 500 }

  test.each([
    ['cached_beside unless it is told otherwise', {}, beside],
    ['cached_inside where it is told so', { usageDialect: 'cached_inside' }, { ...beside, input_tokens: 10_000 }],
  ] as const)('is read %s', async (_, options, usage) => {
    expect((await anthropic.answer({ usage }, options)).usage).toEqual({
      inputTokens: 1_000,
      cachedInputTokens: 9_000,
      cacheWriteTokens: 0,
      outputTokens: 500,
    })
  })

  test('may be missing, which leaves an answer an answer', async () => {
    expect(await anthropic.answer({ usage: null, text: 'Here.' })).toMatchObject({ text: 'Here.', usage: null })
  })

  test.each([
    ['a missing number', { input_tokens: 10 }],
    ['a number as text', { input_tokens: '10', output_tokens: 1 }],
    ['a number beyond 2^53', { input_tokens: 2 ** 53, output_tokens: 1 }],
    ['no object', 'many'],
    ['null', null],
    ['inherited numbers', JSON.parse('{"__proto__":{"input_tokens":1,"output_tokens":1}}')],
  ])('is none for %s', (_, reported) => expect(anthropicUsage(reported, 'cached_beside')).toBeNull())

  test('is read where what is not told is null', () => {
    const reported = { input_tokens: 3, output_tokens: 2, cache_read_input_tokens: null, output_tokens_details: null }
    expect(anthropicUsage(reported, 'cached_beside')).toEqual({
      inputTokens: 3,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: 2,
    })
  })
})
