import { nothing } from '../../domain/budget.ts'
import type { Desk } from './desk.ts'

/**
 * Renews the lease whenever nothing was written for a third of it, until `over` aborts or the lease is lost. Any
 * other event of the owner does the same, so a busy job never renews. A renewal that fails is tried again: it is all
 * that keeps a live job.
 */
export const keepLease = async (
  desk: Pick<Desk, 'writer' | 'clock' | 'waits' | 'said'>,
  over: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<void> => {
  const { writer, clock } = desk
  while (!over.aborted && !writer.lost.aborted) {
    const leaseMs = writer.job.lease?.leaseMs
    if (leaseMs === undefined) return
    const dueIn = writer.freshAt + leaseMs / 3 - clock.monotonic()
    if (dueIn > 0) {
      await clock.sleep(dueIn, over)
      continue
    }
    try {
      await writer.send({ type: 'RenewLease', waitingFor: desk.waits.longest(), progress: desk.said.progress })
    } catch (error) {
      if (writer.lost.aborted || over.aborted) return
      onFailure(error)
      await clock.sleep(leaseMs / 10, over)
    }
  }
}

/** Pauses the job when it has worked as long as it may, whatever it is doing then. */
export const keepDuration = async (
  desk: Pick<Desk, 'clock' | 'stopping' | 'durationLeftMs'>,
  over: AbortSignal,
): Promise<void> => {
  while (!over.aborted) {
    const left = desk.durationLeftMs()
    if (left === null) return
    if (left <= 0) {
      const exhausted = { limit: 'maximumDurationSeconds', needs: nothing }
      desk.stopping.stop({ kind: 'budget_exhausted', exhausted })
      return
    }
    await desk.clock.sleep(left, over)
  }
}
