import type { Provider } from '../../domain/ports/provider.ts'
import { type HttpProtocol, httpProvider, type HttpProviderOptions } from './httpProvider.ts'
import { jsonField } from './jsonField.ts'
import { openaiAnswer } from './openaiAnswer.ts'
import { openaiRequest } from './openaiRequest.ts'
import { openaiTokens } from './openaiTokens.ts'

/**
 * Any server that speaks OpenAI's chat completions. Its base URL includes the version. Raises `InvalidInputError` at
 * once for a base URL or a key that cannot be used.
 */
export const openaiProvider = (options: HttpProviderOptions): Provider => httpProvider(openaiProtocol, options)

const openaiProtocol: HttpProtocol = {
  name: 'openai',
  baseUrlExample: 'https://api.openai.com/v1',
  usageDialect: 'cached_inside',
  /**
   * OpenAI's cookbook ("How to count tokens with tiktoken") counts 3 tokens a message, 1 for its role and 3 for the
   * reply's start. Chat templates of open models take up to 5 and add a standing instruction of under 30 tokens to a
   * call (Llama 3.1, Qwen 2.5); these figures hold for both.
   */
  framing: { perCall: 40, perMessage: 8 },
  countTokens: openaiTokens,
  urlOf: (baseUrl) => `${baseUrl}/chat/completions`,
  headersOf: (apiKey) => (apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
  bodyOf: openaiRequest,
  answerName: 'chat completion',
  answerIn: openaiAnswer,
  refusalIn: (completion) => {
    const status = jsonField(jsonField(completion, 'error'), 'code')
    return typeof status === 'number' && status >= 400 && status <= 599 ? status : null
  },
}
