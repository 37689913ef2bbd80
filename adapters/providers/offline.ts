import type { Clock } from '../../domain/ports/clock.ts'
import type { CallRequest, Provider, ProviderAnswer } from '../../domain/ports/provider.ts'
import type { Usage } from '../../domain/pricing.ts'
import { offlineAnswer } from './offlineAnswer.ts'
import { offlineTokens } from './offlineTokens.ts'
import { withinDeadline } from './withinDeadline.ts'

const framing: Provider['framing'] = { perCall: 2, perMessage: 3 }

/**
 * A provider that needs no key and no network. Deterministic: the same request gets the same bytes. Nothing of it
 * outlives the process, so it replays no answer. `latencyMs` (default 0) is waited through on the clock.
 */
export const offlineProvider = (options: { clock: Clock; latencyMs?: number }): Provider => ({
  name: 'offline',
  replaysForSeconds: 0,
  framing,
  countTokens: (_model, text) => offlineTokens(text),
  complete: (request, { signal, deadlineMs }) =>
    withinDeadline({ clock: options.clock, provider: 'offline', signal, deadlineMs }, async (stop) => {
      await options.clock.sleep(options.latencyMs ?? 0, stop)
      return offlineCompletion(request)
    }),
})

/** The whole answer, with what it would cost: every choice has the same text, and each is billed. */
export const offlineCompletion = (request: CallRequest): ProviderAnswer & { readonly usage: Usage } => {
  const { text, finishReason } = offlineAnswer(request)
  const inputTokens = request.messages.reduce(
    (sum, message) => sum + framing.perMessage + offlineTokens(message.content),
    framing.perCall,
  )
  return {
    text,
    finishReason,
    usage: {
      inputTokens,
      cachedInputTokens: 0,
      cacheWriteTokens: 0,
      outputTokens: offlineTokens(text) * (request.choices ?? 1),
    },
  }
}
