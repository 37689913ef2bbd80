/** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
export const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const end = (): void => {
      clearTimeout(running)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const running = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
