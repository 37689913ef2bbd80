import type { Clock } from '../../domain/ports/clock.ts'
import type { CallRequest } from '../../domain/ports/provider.ts'
import { offlineCompletion } from './offline.ts'
import { offlineRequest } from './offlineRequest.ts'

export type Reply = {
  readonly status: number
  readonly body: unknown
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number } | null
  readonly billed: boolean
  readonly replayed: boolean
}

type Received = { readonly body: string; readonly idempotencyKey: string | null; readonly fingerprint: string }
type Kept = { readonly fingerprint: string; reply: Reply | null; until: number }

/**
 * Answers requests and, for `replaysForMs` after it, repeats an answer for its key without billing it again. While
 * the first is still at work its key gets 409; with another body, 422.
 */
export const offlineReplies = (options: { clock: Clock; latencyMs: number; replaysForMs: number }) => {
  const { clock, latencyMs, replaysForMs } = options
  const kept = new Map<string, Kept>()

  const worked = async (body: string): Promise<Reply> => {
    const request = offlineRequest(body)
    if ('problem' in request) return refusal(400, request.problem)
    await clock.sleep(latencyMs)
    return completion(request, clock.now())
  }

  const forget = (): void => {
    // In order of arrival: the first that is still good ends the search.
    for (const [key, { reply, until }] of kept) {
      if (reply === null || until > clock.monotonic()) return
      kept.delete(key)
    }
  }

  return async ({ body, idempotencyKey, fingerprint }: Received): Promise<Reply> => {
    if (idempotencyKey === null || replaysForMs === 0) return worked(body)
    forget()
    const before = kept.get(idempotencyKey)
    if (before !== undefined && before.fingerprint !== fingerprint) return refusal(422, 'this key had another body')
    if (before !== undefined && before.reply === null) return refusal(409, 'the first request of this key is at work')
    if (before?.reply && before.until > clock.monotonic()) return { ...before.reply, billed: false, replayed: true }
    const entry: Kept = { fingerprint, reply: null, until: Number.POSITIVE_INFINITY }
    kept.set(idempotencyKey, entry)
    entry.reply = await worked(body)
    entry.until = clock.monotonic() + replaysForMs
    return entry.reply
  }
}

const refusal = (status: number, message: string): Reply => ({
  status,
  body: { error: { message } },
  usage: null,
  billed: false,
  replayed: false,
})

const completion = (request: CallRequest, atMs: number): Reply => {
  const { text, finishReason, usage } = offlineCompletion(request)
  const tokens = { prompt_tokens: usage.inputTokens, completion_tokens: usage.outputTokens }
  return {
    status: 200,
    body: {
      object: 'chat.completion',
      created: Math.floor(atMs / 1_000),
      model: request.model,
      choices: Array.from({ length: request.choices ?? 1 }, (_, index) => ({
        index,
        message: { role: 'assistant', content: text },
        finish_reason: finishReason,
      })),
      usage: { ...tokens, total_tokens: tokens.prompt_tokens + tokens.completion_tokens },
    },
    usage: tokens,
    billed: true,
    replayed: false,
  }
}
