import type { CompletionHook } from '../../domain/ports/completionHook.ts'
import { hookLoop } from './hookLoop.ts'
import { tellingMsMax } from './tellNow.ts'

/**
 * Has hooks told of every job that ends, beside the work and never in its way. After the signal they stop with it; where
 * the work has ended by itself, what is due by then is told first, for a minute at most.
 */
export const workAndTell = async (
  deps: Parameters<typeof hookLoop>[0],
  { hooks, graceMs }: { readonly hooks: readonly CompletionHook[]; readonly graceMs: number },
  { work, signal }: { work(): Promise<void>; readonly signal: AbortSignal },
): Promise<void> => {
  const over = new AbortController()
  const stop = (): void => over.abort()
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop)
  const loops = await Promise.all(hooks.map((hook) => hookLoop(deps, hook, { signal: over.signal, graceMs })))
  try {
    await work()
    await Promise.all(loops.map((loop) => loop.settled(tellingMsMax)))
  } finally {
    stop()
    await Promise.all(loops.map((loop) => loop.ended))
    signal.removeEventListener('abort', stop)
  }
}
