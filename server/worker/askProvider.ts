import { ProviderError } from '../../domain/errors.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { CallRequest, ProviderAnswer } from '../../domain/ports/provider.ts'
import type { CallDesk } from './callDesk.ts'

/** How much later than it should an adapter may say that its time is over. */
const graceMs = 250

/**
 * Sends the request once. An adapter that heeds neither its deadline nor the signal is waited for no longer: it must
 * hold up neither its job nor the end of the process.
 */
export const askProvider = async (desk: CallDesk, request: CallRequest, idempotencyKey: string): Promise<ProviderAnswer> => {
  const signal = desk.stopping.hard
  const deadlineMs = desk.callTimeoutMs()
  const answered = new AbortController()
  const asked = async (): Promise<ProviderAnswer> => desk.provider.complete(request, { signal, idempotencyKey, deadlineMs })
  try {
    return await Promise.race([asked(), tooLate(desk.clock, deadlineMs, signal, answered.signal)])
  } finally {
    answered.abort('answered')
  }
}

const tooLate = async (clock: Clock, deadlineMs: number, cut: AbortSignal, answered: AbortSignal): Promise<never> => {
  const waiting = new AbortController()
  const wake = (): void => waiting.abort('woken')
  answered.addEventListener('abort', wake)
  cut.addEventListener('abort', wake)
  if (cut.aborted) wake()
  await clock.sleep(deadlineMs + graceMs, waiting.signal)
  cut.removeEventListener('abort', wake)
  if (cut.aborted) await clock.sleep(graceMs, answered)
  throw new ProviderError({
    code: 'timeout',
    message: 'the provider has let its deadline pass without a word',
    kind: 'transient',
    billed: 'unknown',
  })
}
