import { isRejection } from '../../domain/rejection.ts'
import type { Outcome } from '../command/decideInTurn.ts'
import type { Desk } from './desk.ts'
import type { Wish } from './jobWriter.ts'

/**
 * Sends a wish that a limit may refuse, and again whenever an open call of the job has ended: it may have cost less
 * than was set aside for it. Answers with the refusal once there is nothing left to wait for, or the job is to stop.
 */
export const onceThereIsRoom = async (
  desk: Pick<Desk, 'writer' | 'calls' | 'stopping'>,
  wish: () => Wish,
): Promise<Outcome> => {
  for (;;) {
    const ended = desk.calls.ended()
    const outcome = await desk.writer.send(wish())
    if (!isRejection(outcome) || outcome.rejected !== 'budget_exhausted' || desk.stopping.reason !== null) return outcome
    // A call that ended in the same append, behind this refusal, is not open any more and has made room all the same.
    const mayYetFit = desk.calls.ended() !== ended || Object.keys(desk.writer.job.open).length > 0
    if (!mayYetFit) return outcome
    await desk.calls.nextEnd(ended)
  }
}
