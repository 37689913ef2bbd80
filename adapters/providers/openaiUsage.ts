import { Usage } from '../../domain/pricing.ts'
import { jsonField } from './jsonField.ts'

/** Whether a provider's `prompt_tokens` includes what it read from its cache, or stands beside it. */
export type UsageDialect = 'cached_inside' | 'cached_beside'

/**
 * Tokens in the engine's terms, where kinds of input never overlap. Null for numbers that are missing or cannot be
 * (negative, fractional, more cached than there was input): the call is then charged at its worst case.
 */
export const openaiUsage = (reported: unknown, dialect: UsageDialect): Usage | null => {
  const prompt = jsonField(reported, 'prompt_tokens')
  const cached = cachedTokens(reported)
  const written = jsonField(reported, 'cache_creation_input_tokens') ?? 0
  const output = outputTokens(reported)
  if (typeof prompt !== 'number' || typeof cached !== 'number' || typeof written !== 'number') return null
  const usage = Usage.safeParse({
    inputTokens: dialect === 'cached_inside' ? prompt - cached - written : prompt,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    ...output,
  })
  if (!usage.success) return null
  return (usage.data.reasoningTokens ?? 0) > usage.data.outputTokens ? null : usage.data
}

/**
 * Reasoning is part of the output, and billed as such. Some providers leave it out of `completion_tokens`, which shows
 * in a total that only adds up with it.
 */
const outputTokens = (reported: unknown): { outputTokens: unknown; reasoningTokens?: unknown } => {
  const completion = jsonField(reported, 'completion_tokens')
  const reasoning = jsonField(jsonField(reported, 'completion_tokens_details'), 'reasoning_tokens') ?? undefined
  if (reasoning === undefined) return { outputTokens: completion }
  const sum = Number(jsonField(reported, 'prompt_tokens')) + Number(completion) + Number(reasoning)
  const isBeside = typeof completion === 'number' && jsonField(reported, 'total_tokens') === sum
  return { outputTokens: isBeside ? completion + Number(reasoning) : completion, reasoningTokens: reasoning }
}

/** Under the name OpenAI gives it, or one of those that compatible providers use. */
const cachedTokens = (reported: unknown): unknown =>
  jsonField(jsonField(reported, 'prompt_tokens_details'), 'cached_tokens') ??
  jsonField(reported, 'cached_tokens') ??
  jsonField(reported, 'prompt_cache_hit_tokens') ??
  jsonField(reported, 'cache_read_input_tokens') ??
  0
