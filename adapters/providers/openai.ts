import { InvalidInputError, ProviderError } from '../../domain/errors.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { Provider, ProviderAnswer } from '../../domain/ports/provider.ts'
import { boundedBody } from './boundedBody.ts'
import { connectionFailure } from './connectionFailure.ts'
import { jsonField, parsedJson } from './jsonField.ts'
import { openaiAnswer } from './openaiAnswer.ts'
import { openaiBaseUrl } from './openaiBaseUrl.ts'
import { openaiFailure } from './openaiFailure.ts'
import { openaiRequest } from './openaiRequest.ts'
import { openaiTokens } from './openaiTokens.ts'
import type { UsageDialect } from './openaiUsage.ts'
import { redaction } from './redaction.ts'
import { patientDispatcher } from './patientDispatcher.ts'
import { isRedirect, redirected } from './redirected.ts'
import { retryAfter } from './retryAfter.ts'
import { withinDeadline } from './withinDeadline.ts'

/** A longer answer is refused, in bytes after decompression: 32 MiB. */
export const answerBytesMax = 33_554_432

/** Of a refusal, no more than this is read. */
const refusalBytesMax = 65_536

/**
 * OpenAI's cookbook ("How to count tokens with tiktoken") counts 3 tokens a message, 1 for its role and 3 for the
 * reply's start. Chat templates of open models take up to 5 and add a standing instruction of under 30 tokens to a
 * call (Llama 3.1, Qwen 2.5); these figures hold for both.
 */
const framing = { perCall: 40, perMessage: 8 } as const

export type OpenaiOptions = {
  /** Default `openai`. */
  readonly name?: string
  /** With its version, such as `https://api.openai.com/v1`. */
  readonly baseUrl: string
  /** Sent to `baseUrl` alone. None: no `Authorization` header. */
  readonly apiKey?: string | null
  readonly clock: Clock
  readonly fetch?: typeof globalThis.fetch
  /** How long, in seconds, this provider is declared to replay answers by idempotency key. Default 0. */
  readonly replaysForSeconds?: number
  /** True where the provider is declared not to bill what ended with a 5xx. */
  readonly unbilled5xx?: boolean
  /** Default `cached_inside`, as OpenAI reports. */
  readonly usageDialect?: UsageDialect
}

/**
 * Any server that speaks OpenAI's chat completions. Raises `InvalidInputError` at once for a base URL or a key that
 * cannot be used.
 */
export const openaiProvider = (options: OpenaiOptions): Provider => {
  const { clock, name = 'openai', unbilled5xx = false, usageDialect = 'cached_inside' } = options
  const baseUrl = openaiBaseUrl(options.baseUrl)
  const apiKey = usableKey(options.apiKey ?? '')
  const redact = redaction(apiKey)
  const provider = { name, baseUrl, unbilled5xx, redact }

  let dispatching: Promise<RequestInit['dispatcher']> | undefined

  const send = async (body: string, idempotencyKey: string, signal: AbortSignal): Promise<Response> => {
    const dispatcher = options.fetch === undefined ? await (dispatching ??= patientDispatcher()) : undefined
    try {
      return await (options.fetch ?? globalThis.fetch)(`${baseUrl}/chat/completions`, {
        method: 'POST',
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
          ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }),
        },
        body,
        // Followed, a redirect would take the key to a place nobody gave it for.
        redirect: 'manual',
        signal,
        ...(dispatcher === undefined ? {} : { dispatcher }),
      })
    } catch (fault) {
      throw connectionFailure(fault, provider)
    }
  }

  const refused = async (response: Response): Promise<ProviderError> => {
    const body = await boundedBody(response, refusalBytesMax).catch(() => ({ text: '' }))
    const wait = retryAfter(response.headers, { nowMs: clock.now(), redact })
    return openaiFailure({ status: response.status, body: body.text, retryAfter: wait }, provider)
  }

  const answered = async (response: Response): Promise<ProviderAnswer> => {
    const body = await boundedBody(response, answerBytesMax).catch((fault: unknown) => {
      throw connectionFailure(fault, provider)
    })
    if (!body.whole) throw unusable('answer_too_large', `an answer over ${answerBytesMax} bytes`, false)
    const completion = parsedJson(body.text)
    // A gateway that cuts an answer short may still end it properly: that passes, as a broken connection does.
    if (completion === undefined) throw unusable('invalid_answer', 'an answer that is not JSON', true)
    const answer = openaiAnswer(completion, usageDialect)
    if (answer !== null) return answer
    throw hiddenRefusal(completion) ?? unusable('invalid_answer', 'JSON that is no chat completion', false)
  }

  /** Some gateways put the status of a refusal into a body sent with 200. The model may have worked by then. */
  const hiddenRefusal = (completion: unknown): ProviderError | null => {
    const status = jsonField(jsonField(completion, 'error'), 'code')
    if (typeof status !== 'number' || !(status >= 400 && status <= 599)) return null
    const { code, kind, message } = openaiFailure({ status, body: JSON.stringify(completion), retryAfter: null }, provider)
    return new ProviderError({ code, kind, message, billed: 'unknown', status: 200 })
  }

  const unusable = (code: string, what: string, retryable: boolean): ProviderError =>
    new ProviderError({ code, message: `${name} sent ${what}`, kind: 'provider', billed: 'unknown', retryable })

  return {
    name,
    replaysForSeconds: options.replaysForSeconds ?? 0,
    framing,
    countTokens: openaiTokens,
    complete: (request, { signal, idempotencyKey, deadlineMs }) =>
      withinDeadline({ clock, provider: name, signal, deadlineMs }, async (stop) => {
        const response = await send(openaiRequest(request), idempotencyKey, stop)
        if (isRedirect(response)) throw redirected(response, provider)
        if (!response.ok) throw await refused(response)
        return answered(response)
      }),
  }
}

/** Raised here and not by `fetch`, whose error would show the key. */
const usableKey = (text: string): string => {
  const key = text.trim()
  if (!/^[\x21-\x7e]*$/.test(key)) {
    throw new InvalidInputError('the API key holds a space or a character that cannot be sent in a header')
  }
  return key
}
