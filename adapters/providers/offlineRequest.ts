import { z } from 'zod'
import type { CallRequest } from '../../domain/ports/provider.ts'
import { parsedJson } from './jsonField.ts'

const ChatCompletionRequest = z.object({
  model: z.string().min(1),
  messages: z.array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })).min(1),
  max_tokens: z.int().positive().optional(),
  max_completion_tokens: z.int().positive().optional(),
  temperature: z.number().optional(),
  seed: z.int().optional(),
  n: z.int().positive().max(128).optional(),
})

const maxOutputTokensDefault = 1_024

/** The request in a chat completion's body, or what is wrong with it. */
export const offlineRequest = (body: string): CallRequest | { readonly problem: string } => {
  const read = ChatCompletionRequest.safeParse(parsedJson(body))
  if (!read.success) return { problem: z.prettifyError(read.error) }
  const { model, messages, seed, n } = read.data
  return {
    model,
    messages,
    maxOutputTokens: read.data.max_completion_tokens ?? read.data.max_tokens ?? maxOutputTokensDefault,
    ...(seed === undefined ? {} : { seed }),
    ...(n === undefined ? {} : { choices: n }),
  }
}
