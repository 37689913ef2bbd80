import type { ProviderAnswer } from '../../domain/ports/provider.ts'
import { anthropicUsage } from './anthropicUsage.ts'
import { finishReason } from './finishReason.ts'
import { jsonField } from './jsonField.ts'
import type { UsageDialect } from './tokenUsage.ts'
import { wellFormed } from './wellFormed.ts'

/** The answer in a parsed message, or null where there is none. What the model thought is no part of its text. */
export const anthropicAnswer = (message: unknown, dialect: UsageDialect): ProviderAnswer | null => {
  const content = jsonField(message, 'content')
  if (!Array.isArray(content)) return null
  const text = content.map((block) => (jsonField(block, 'type') === 'text' ? jsonField(block, 'text') : ''))
  return {
    text: wellFormed(text.filter((part) => typeof part === 'string').join('')),
    finishReason: reasonOf(jsonField(message, 'stop_reason')),
    usage: anthropicUsage(jsonField(message, 'usage'), dialect),
  }
}

/**
 * In the words of the other providers where they have one. A refusal stays `refusal`: it is an answer, and billed.
 */
const reasonOf = (said: unknown): string | null => {
  switch (said) {
    case 'end_turn':
    case 'stop_sequence':
      return 'stop'
    case 'max_tokens':
    case 'model_context_window_exceeded':
      return 'length'
    default:
      return finishReason(said)
  }
}
