import type { ProviderAnswer } from '../../domain/ports/provider.ts'
import { finishReason } from './finishReason.ts'
import { jsonField } from './jsonField.ts'
import { openaiUsage } from './openaiUsage.ts'
import type { UsageDialect } from './tokenUsage.ts'
import { wellFormed } from './wellFormed.ts'

/** The answer in a parsed chat completion, or null where there is none. */
export const openaiAnswer = (completion: unknown, dialect: UsageDialect): ProviderAnswer | null => {
  const choices = jsonField(completion, 'choices')
  if (!Array.isArray(choices) || choices.length === 0) return null
  const message = jsonField(choices[0], 'message')
  if (typeof message !== 'object' || message === null) return null
  return {
    text: wellFormed(textOf(message)),
    finishReason: finishReason(jsonField(choices[0], 'finish_reason')),
    usage: openaiUsage(jsonField(completion, 'usage'), dialect),
  }
}

/** Some compatible servers answer in parts; a model that declines may say so beside an empty content. */
const textOf = (message: object): string => {
  const content = jsonField(message, 'content')
  if (typeof content === 'string') return content
  if (Array.isArray(content)) return content.map((part) => stringOr(jsonField(part, 'text'))).join('')
  return stringOr(jsonField(message, 'refusal'))
}

const stringOr = (value: unknown): string => (typeof value === 'string' ? value : '')
