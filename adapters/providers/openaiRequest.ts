import type { CallRequest } from '../../domain/ports/provider.ts'
import { wellFormed } from './wellFormed.ts'

// These models refuse `max_tokens`; most compatible servers know nothing else.
const countsCompletionTokens = /^(?:openai\/)?(?:ft:)?(?:o\d|gpt-[5-9])/

/** The JSON body of a chat completion. Half characters become U+FFFD: most servers refuse a body that has one. */
export const openaiRequest = (request: CallRequest): string =>
  JSON.stringify({
    model: request.model,
    messages: request.messages.map(({ role, content }) => ({ role, content: wellFormed(content) })),
    [countsCompletionTokens.test(request.model) ? 'max_completion_tokens' : 'max_tokens']: request.maxOutputTokens,
    temperature: request.temperature,
    seed: request.seed,
    n: request.choices,
    stream: false,
  })
