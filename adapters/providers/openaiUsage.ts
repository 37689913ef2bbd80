import type { Usage } from '../../domain/pricing.ts'
import { jsonField } from './jsonField.ts'
import { tokenUsage, type UsageDialect } from './tokenUsage.ts'

/** Usage under the names OpenAI gives it, or one of those that compatible providers use. */
export const openaiUsage = (reported: unknown, dialect: UsageDialect): Usage | null => {
  const field = (name: string): unknown => jsonField(reported, name)
  const ofInput = (name: string): unknown => jsonField(field('prompt_tokens_details'), name)
  return tokenUsage(
    {
      input: field('prompt_tokens'),
      cached:
        ofInput('cached_tokens') ??
        field('cached_tokens') ??
        field('prompt_cache_hit_tokens') ??
        field('cache_read_input_tokens'),
      written:
        field('cache_creation_input_tokens') ?? ofInput('cache_write_tokens') ?? ofInput('cache_creation_tokens'),
      output: field('completion_tokens'),
      reasoning: jsonField(field('completion_tokens_details'), 'reasoning_tokens'),
      total: field('total_tokens'),
    },
    dialect,
  )
}
