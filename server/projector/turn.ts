import type { Clock } from '../../domain/ports/clock.ts'

/**
 * Whose turn it is to fold, of the processes that share the views: whoever committed last goes on at once, the others
 * give it a short while at each page and take over when nothing moves. It only spares work. That nothing is lost or
 * counted twice comes from the guard of each commit, so a wrong belief about the turn costs one refused commit.
 */
export type Turn = {
  isMine(): boolean
  lose(): void
  /** Waits while it is another's turn. Answers true, and has the turn, when nothing moved; false once it did. */
  take(hasMoved: () => Promise<boolean>, signal: AbortSignal): Promise<boolean>
}

// Mostly whoever has the turn is done within milliseconds, and a reader may be waiting here.
const shares = [0.05, 0.05, 0.1, 0.2, 0.6]

export const turn = (clock: Clock, patienceMs: number): Turn => {
  // Nobody is known to be at work yet.
  let isMine = true
  return {
    isMine: () => isMine,
    lose: () => {
      isMine = false
    },
    take: async (hasMoved, signal) => {
      for (const share of shares) {
        await clock.sleep(patienceMs * share, signal)
        if (signal.aborted || (await hasMoved())) return false
      }
      isMine = true
      return true
    },
  }
}
