import type { Usage } from '../../domain/pricing.ts'
import { jsonField } from './jsonField.ts'
import { tokenUsage, type UsageDialect } from './tokenUsage.ts'

/**
 * Usage under the names Anthropic gives it. What a model thought is part of `output_tokens`, and told apart by few.
 */
export const anthropicUsage = (reported: unknown, dialect: UsageDialect): Usage | null => {
  const details = jsonField(reported, 'output_tokens_details')
  return tokenUsage(
    {
      input: jsonField(reported, 'input_tokens'),
      cached: jsonField(reported, 'cache_read_input_tokens'),
      written: jsonField(reported, 'cache_creation_input_tokens'),
      output: jsonField(reported, 'output_tokens'),
      reasoning: jsonField(details, 'thinking_tokens') ?? jsonField(details, 'reasoning_tokens'),
    },
    dialect,
  )
}
