import { ProviderError } from '../../domain/errors.ts'
import type { CallRequest, Message } from '../../domain/ports/provider.ts'
import { wellFormed } from './wellFormed.ts'

/**
 * The JSON body of a message. The protocol has one place for instructions: system messages, also those from the
 * middle, go there in their order, with an empty line between. It knows no seed, which then only tells calls apart.
 * Half characters become U+FFFD. Raises `ProviderError`, billed `no`, for more than one choice.
 */
export const anthropicRequest = ({ model, messages, maxOutputTokens, temperature, choices = 1 }: CallRequest): string => {
  if (choices !== 1) {
    throw new ProviderError({
      code: 'invalid_request',
      message: `the Anthropic protocol gives one answer a call, not ${choices}: ask for one choice`,
      kind: 'invalid_input',
      billed: 'no',
    })
  }
  const system = messages.filter(isSystem).map(({ content }) => wellFormed(content))
  return JSON.stringify({
    model,
    system: system.length === 0 ? undefined : system.join('\n\n'),
    messages: messages
      .filter((message) => !isSystem(message))
      .map(({ role, content }) => ({ role, content: wellFormed(content) })),
    max_tokens: maxOutputTokens,
    temperature,
    stream: false,
  })
}

const isSystem = ({ role }: Message): boolean => role === 'system'
