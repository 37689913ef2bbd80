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

const looksMax = 5

export const turn = (clock: Clock, patienceMs: number): Turn => {
  // Nobody is known to be at work yet.
  let isMine = true
  return {
    isMine: () => isMine,
    lose: () => {
      isMine = false
    },
    take: async (hasMoved, signal) => {
      for (let looks = 0; looks < looksMax && !signal.aborted; looks += 1) {
        await clock.sleep(patienceMs / looksMax, signal)
        if (await hasMoved()) return false
      }
      isMine = !signal.aborted
      return isMine
    },
  }
}
