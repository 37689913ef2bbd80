/**
 * Aborts when either does, until released. `AbortSignal.any` would hold on to every signal ever combined with
 * a long-lived one.
 */
export const eitherSignal = (a: AbortSignal, b: AbortSignal): { signal: AbortSignal; release: () => void } => {
  const either = new AbortController()
  const abort = (): void => either.abort()
  if (a.aborted || b.aborted) abort()
  a.addEventListener('abort', abort)
  b.addEventListener('abort', abort)
  return {
    signal: either.signal,
    release: () => {
      a.removeEventListener('abort', abort)
      b.removeEventListener('abort', abort)
    },
  }
}
