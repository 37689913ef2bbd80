import { heldWaitMsMax } from '../../domain/retry.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { WaitingFor } from '../../domain/job/job.ts'
import type { Wish } from './jobWriter.ts'
import type { Stopping } from './stopping.ts'

/** What a long wait would be recorded as, if the job is given back for it. */
export type WaitReason = Omit<Extract<Wish, { type: 'WaitOut' }>, 'type' | 'delayMs'>

/**
 * The waits of one attempt's calls. A wait over five seconds is not slept through while no other call of the job
 * can go on: the job is given back, so that waiting holds no lease and no slot.
 */
export type Waits = {
  /** Brackets a call from its beginning to its end. */
  begin(): void
  end(): void
  /** Returns early when the attempt stops. */
  wait(delayMs: number, reason: WaitReason): Promise<void>
  /** Brackets the wait for a place that another call must leave: one of this job, or of any job of this process. */
  queue<T>(whose: 'job' | 'process', turn: Promise<T>): Promise<T>
  /** What the job waits for while none of its calls can go on. */
  longest(): WaitingFor | undefined
}

const settleMs = 10

export const waits = (clock: Clock, stopping: Stopping): Waits => {
  const waiting = new Set<{ dueAt: number; reason: WaitReason }>()
  const queued = { job: 0, process: 0 }
  let calls = 0

  const look = (): void => {
    // Whoever waits for another call of the job goes on no sooner than that one does.
    if (waiting.size === 0 || waiting.size + queued.job < calls) return
    const soonest = [...waiting].reduce((first, each) => (each.dueAt < first.dueAt ? each : first))
    const delayMs = Math.ceil(soonest.dueAt - clock.monotonic())
    if (delayMs > heldWaitMsMax) stopping.stop({ kind: 'wait', wish: { type: 'WaitOut', delayMs, ...soonest.reason } })
  }

  return {
    begin: () => void (calls += 1),
    end() {
      calls -= 1
      // Whoever this call made room for begins first; only then is it plain that nobody can go on.
      void clock.sleep(settleMs, stopping.soft).then(look)
    },
    longest() {
      if (calls === 0 || waiting.size + queued.job + queued.process < calls) return undefined
      if (waiting.size === 0) return { reason: 'concurrency', until: null }
      const last = [...waiting].reduce((latest, each) => (each.dueAt > latest.dueAt ? each : latest))
      const until = new Date(clock.now() + last.dueAt - clock.monotonic()).toISOString()
      return { reason: last.reason.failure.errorCode, until }
    },
    async wait(delayMs, reason) {
      const mine = { dueAt: clock.monotonic() + delayMs, reason }
      waiting.add(mine)
      look()
      await clock.sleep(delayMs, stopping.soft)
      waiting.delete(mine)
    },
    async queue(whose, turn) {
      queued[whose] += 1
      look()
      try {
        return await turn
      } finally {
        queued[whose] -= 1
      }
    },
  }
}
