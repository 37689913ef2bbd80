import { ProviderError } from '../../domain/errors.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { CallRequest, Provider, ProviderAnswer } from '../../domain/ports/provider.ts'
import { boundedBody } from './boundedBody.ts'
import { connectionFailure } from './connectionFailure.ts'
import { parsedJson } from './jsonField.ts'
import { patientDispatcher } from './patientDispatcher.ts'
import { redaction } from './redaction.ts'
import { isRedirect, redirected } from './redirected.ts'
import { refused } from './refused.ts'
import { retryAfter } from './retryAfter.ts'
import type { UsageDialect } from './tokenUsage.ts'
import { usableBaseUrl } from './usableBaseUrl.ts'
import { usableKey } from './usableKey.ts'
import { withinDeadline } from './withinDeadline.ts'

/** A longer answer is refused, in bytes after decompression: 32 MiB. */
export const answerBytesMax = 33_554_432

/** Of a refusal, no more than this is read. */
const refusalBytesMax = 65_536

/** What one protocol says, and where, in a single POST of JSON that JSON answers. */
export type HttpProtocol = Pick<Provider, 'framing' | 'countTokens'> & {
  /** The provider's name where none is given. */
  readonly name: string
  readonly baseUrlExample: string
  /** What its servers use where none is given. */
  readonly usageDialect: UsageDialect
  urlOf(baseUrl: string): string
  /** An empty key: there is none. */
  headersOf(apiKey: string): Readonly<Record<string, string>>
  /** Raises `ProviderError`, billed `no`, for what the protocol cannot say. */
  bodyOf(request: CallRequest): string
  /** What an answer is called in an error. */
  readonly answerName: string
  answerIn(parsed: unknown, dialect: UsageDialect): ProviderAnswer | null
  /** The status of a refusal that a gateway has put into a body sent with 200, or null where there is none. */
  refusalIn(parsed: unknown): number | null
}

export type HttpProviderOptions = {
  /** Default: that of the protocol. */
  readonly name?: string
  readonly baseUrl: string
  /** Sent to `baseUrl` alone. None: no header for it. */
  readonly apiKey?: string | null
  readonly clock: Clock
  readonly fetch?: typeof globalThis.fetch
  /** How long, in seconds, this provider is declared to replay answers by idempotency key. Default 0. */
  readonly replaysForSeconds?: number
  /** True where the provider is declared not to bill what ended with a 5xx. */
  readonly unbilled5xx?: boolean
  /** Default: that of the protocol. */
  readonly usageDialect?: UsageDialect
}

/** Raises `InvalidInputError` at once for a base URL or a key that cannot be used. */
export const httpProvider = (protocol: HttpProtocol, options: HttpProviderOptions): Provider => {
  const { clock, name = protocol.name, unbilled5xx = false, usageDialect = protocol.usageDialect } = options
  const baseUrl = usableBaseUrl(options.baseUrl, protocol.baseUrlExample)
  const apiKey = usableKey(options.apiKey ?? '')
  const redact = redaction(apiKey)
  const provider = { name, baseUrl, unbilled5xx, redact }

  let dispatching: Promise<RequestInit['dispatcher']> | undefined

  const send = async (body: string, idempotencyKey: string, signal: AbortSignal): Promise<Response> => {
    const dispatcher = options.fetch === undefined ? await (dispatching ??= patientDispatcher()) : undefined
    try {
      return await (options.fetch ?? globalThis.fetch)(protocol.urlOf(baseUrl), {
        method: 'POST',
        headers: {
          accept: 'application/json',
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
          ...protocol.headersOf(apiKey),
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

  const refusal = async (response: Response): Promise<ProviderError> => {
    const body = await boundedBody(response, refusalBytesMax).catch(() => ({ text: '' }))
    const wait = retryAfter(response.headers, { nowMs: clock.now(), redact })
    return refused({ status: response.status, body: body.text, retryAfter: wait }, provider)
  }

  const answered = async (response: Response): Promise<ProviderAnswer> => {
    const body = await boundedBody(response, answerBytesMax).catch((fault: unknown) => {
      throw connectionFailure(fault, provider)
    })
    if (!body.whole) throw unusable('answer_too_large', `an answer over ${answerBytesMax} bytes`, false)
    const parsed = parsedJson(body.text)
    // A gateway that cuts an answer short may still end it properly: that passes, as a broken connection does.
    if (parsed === undefined) throw unusable('invalid_answer', 'an answer that is not JSON', true)
    const answer = protocol.answerIn(parsed, usageDialect)
    if (answer !== null) return answer
    throw hiddenRefusal(parsed) ?? unusable('invalid_answer', `JSON that is no ${protocol.answerName}`, false)
  }

  /** The model may have worked by the time a gateway sent its refusal with 200. */
  const hiddenRefusal = (parsed: unknown): ProviderError | null => {
    const status = protocol.refusalIn(parsed)
    if (status === null) return null
    const { code, kind, message } = refused({ status, body: JSON.stringify(parsed), retryAfter: null }, provider)
    return new ProviderError({ code, kind, message, billed: 'unknown', status: 200 })
  }

  const unusable = (code: string, what: string, retryable: boolean): ProviderError =>
    new ProviderError({ code, message: `${name} sent ${what}`, kind: 'provider', billed: 'unknown', retryable })

  return {
    name,
    replaysForSeconds: options.replaysForSeconds ?? 0,
    framing: protocol.framing,
    countTokens: protocol.countTokens,
    complete: (request, { signal, idempotencyKey, deadlineMs }) =>
      withinDeadline({ clock, provider: name, signal, deadlineMs }, async (stop) => {
        const response = await send(protocol.bodyOf(request), idempotencyKey, stop)
        if (isRedirect(response)) throw redirected(response, provider)
        if (!response.ok) throw await refusal(response)
        return answered(response)
      }),
  }
}
