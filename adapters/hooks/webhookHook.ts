import type { Clock } from '../../domain/ports/clock.ts'
import type { CompletionHook, Ending, HookAnswer } from '../../domain/ports/completionHook.ts'
import { askedWaitMs } from './askedWaitMs.ts'
import { usableWebhookUrl } from './usableWebhookUrl.ts'
import { webhookSigner } from './webhookSigner.ts'

/** Until the answer's headers are there. */
export const webhookTimeoutMs = 10_000

/**
 * Posts `{ type, timestamp, data }` by the conventions of Standard Webhooks: `webhook-id` is the id of the ending's event,
 * `webhook-timestamp` the second of this try, `webhook-signature` an HMAC-SHA256 over both and the body. Taken is what is
 * answered with 2xx; a redirect is not followed. Without a secret there is no signature.
 *
 * Raises `InvalidInputError` at once for a URL or a secret that cannot be used. Neither is repeated anywhere, but for the
 * URL's origin.
 */
export const webhookHook = (options: {
  readonly url: string
  /** `whsec_` and base64, or any other text, whose bytes are then the key. Null: unsigned. */
  readonly secret: string | null
  readonly clock: Clock
}): CompletionHook => {
  const { clock } = options
  const url = usableWebhookUrl(options.url)
  const sign = options.secret === null ? null : webhookSigner(options.secret)

  const post = (ending: Ending, signal: AbortSignal): Promise<Response> => {
    const body = JSON.stringify({ type: ending.type, timestamp: ending.at, data: ending.job })
    const timestamp = Math.floor(clock.now() / 1_000)
    const signature = sign?.({ id: ending.eventId, timestamp, body })
    return fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': ending.eventId,
        'webhook-timestamp': String(timestamp),
        ...(signature === undefined ? {} : { 'webhook-signature': signature }),
      },
      body,
      // What was given one URL is told to no other.
      redirect: 'manual',
      signal,
    })
  }

  return {
    kind: 'webhook',
    title: `webhook ${url.origin}`,
    async tell(ending, signal) {
      const stop = new AbortController()
      const ended = new AbortController()
      const abort = (): void => stop.abort()
      if (signal.aborted) abort()
      signal.addEventListener('abort', abort)
      void clock.sleep(webhookTimeoutMs, ended.signal).then(abort)
      try {
        return answerOf(await post(ending, stop.signal), clock.now())
      } catch (error) {
        if (signal.aborted) return notTaken('it was cut short')
        return notTaken(stop.signal.aborted ? `no answer within ${webhookTimeoutMs / 1_000} s` : reasonOf(error))
      } finally {
        signal.removeEventListener('abort', abort)
        ended.abort()
      }
    },
  }
}

const notTaken = (said: string, askedMs: number | null = null): HookAnswer => ({ taken: false, said, askedMs })

const answerOf = (response: Response, nowMs: number): HookAnswer => {
  const { status, headers } = response
  // Nothing in a body is acted on: left unread it would keep its connection.
  void response.body?.cancel().catch(() => {})
  if (response.ok) return { taken: true, said: '', askedMs: null }
  const isRedirect = status >= 300 && status < 400
  return notTaken(`answered ${status}${isRedirect ? ', a redirect, which is not followed' : ''}`, askedWaitMs(headers, nowMs))
}

/** The system's own code: a whole message of the network may hold the address. */
const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no reason given'
  return `no connection, or a broken one (${code})`
}
