import { setMaxListeners } from 'node:events'
import { ProviderError } from '../../domain/errors.ts'
import type { Clock } from '../../domain/ports/clock.ts'

/**
 * Runs `work` until it ends, `signal` aborts or `deadlineMs` has passed, whichever is first; `work` is told to stop
 * but not waited for. Raises `ProviderError` `timeout`: billed `unknown`, or `no` when `work` was never started.
 */
export const withinDeadline = async <T>(
  call: { clock: Clock; provider: string; signal: AbortSignal; deadlineMs: number },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const { clock, provider, signal, deadlineMs } = call
  if (signal.aborted) throw timedOut(`the call to ${provider} was aborted before it was sent`, 'no')
  if (!(deadlineMs > 0)) throw timedOut(`the call to ${provider} was not sent: no time was left for it`, 'no')

  const stop = new AbortController()
  const ended = new AbortController()
  let why = `the call to ${provider} was aborted`
  const stopped = new Promise<never>((_, refuse) => {
    stop.signal.addEventListener('abort', () => refuse(timedOut(why, 'unknown')), { once: true })
  })
  const abort = (): void => stop.abort()
  // A job's calls share its signal: hundreds of listeners are no leak.
  setMaxListeners(0, signal)
  signal.addEventListener('abort', abort, { once: true })
  void clock.sleep(deadlineMs, ended.signal).then(() => {
    if (ended.signal.aborted) return
    why = `${provider} did not answer within ${deadlineMs} ms`
    stop.abort()
  })
  try {
    return await Promise.race([work(stop.signal), stopped])
  } finally {
    signal.removeEventListener('abort', abort)
    ended.abort()
  }
}

const timedOut = (message: string, billed: 'no' | 'unknown'): ProviderError =>
  new ProviderError({ code: 'timeout', message, kind: 'transient', billed })
