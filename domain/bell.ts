/** Wakes whoever waits for news. Counted, so that news between a look and the wait is not missed. */
export type Bell = {
  /** How often it has rung. */
  rung(): number
  ring(): void
  /** Resolves when it has rung more often than that, or when the signal aborts. Never rejects. */
  past(rung: number, signal: AbortSignal): Promise<void>
}

export const bell = (): Bell => {
  const waiting = new Set<() => void>()
  let count = 0
  return {
    rung: () => count,
    ring: () => {
      count += 1
      for (const wake of [...waiting]) wake()
    },
    past: (rung, signal) =>
      new Promise((resolve) => {
        if (count !== rung || signal.aborted) return resolve()
        const wake = (): void => {
          waiting.delete(wake)
          signal.removeEventListener('abort', wake)
          resolve()
        }
        waiting.add(wake)
        signal.addEventListener('abort', wake)
      }),
  }
}
