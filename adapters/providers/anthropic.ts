import type { Provider } from '../../domain/ports/provider.ts'
import { anthropicAnswer } from './anthropicAnswer.ts'
import { anthropicRequest } from './anthropicRequest.ts'
import { type HttpProtocol, httpProvider, type HttpProviderOptions } from './httpProvider.ts'
import { jsonField } from './jsonField.ts'

/**
 * Any server that speaks Anthropic's Messages. The base URL may end in `/v1` or, as its own clients want it, before
 * that. Raises `InvalidInputError` at once for a base URL or a key that cannot be used.
 */
export const anthropicProvider = (options: HttpProviderOptions): Provider => httpProvider(anthropicProtocol, options)

/** The statuses that Anthropic's documentation gives to its types of error. */
const statusOf: ReadonlyMap<unknown, number> = new Map([
  ['invalid_request_error', 400],
  ['authentication_error', 401],
  ['billing_error', 402],
  ['permission_error', 403],
  ['not_found_error', 404],
  ['request_too_large', 413],
  ['rate_limit_error', 429],
  ['api_error', 500],
  ['timeout_error', 504],
  ['overloaded_error', 529],
])

const anthropicProtocol: HttpProtocol = {
  name: 'anthropic',
  baseUrlExample: 'https://api.anthropic.com/v1',
  // The counts include neither what was read from the cache nor what was written to it.
  usageDialect: 'cached_beside',
  /**
   * Not published. Short messages are counted as under ten tokens more than their text has, instructions as a few
   * more; servers of other models put a standing instruction of their own before a call. These figures leave room.
   */
  framing: { perCall: 64, perMessage: 16 },
  // No tokenizer of its models is public.
  countTokens: () => null,
  urlOf: (baseUrl) => `${baseUrl}${baseUrl.endsWith('/v1') ? '' : '/v1'}/messages`,
  headersOf: (apiKey) => ({ 'anthropic-version': '2023-06-01', ...(apiKey === '' ? {} : { 'x-api-key': apiKey }) }),
  bodyOf: anthropicRequest,
  answerName: 'message',
  answerIn: anthropicAnswer,
  refusalIn: (message) => statusOf.get(jsonField(jsonField(message, 'error'), 'type')) ?? null,
}
