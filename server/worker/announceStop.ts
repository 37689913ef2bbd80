import type { Job } from '../../domain/job/job.ts'
import type { Desk } from './desk.ts'
import type { Wish } from './jobWriter.ts'
import type { StopReason } from './stopping.ts'

/** Shows people at once that the job is on its way to a stop. Whether it landed is seen by whoever ends the attempt. */
export const announceStop = (desk: Pick<Desk, 'writer' | 'stopping'>): void => {
  const wish = desk.stopping.reason === null ? null : firstWish(desk.stopping.reason)
  if (wish !== null) void desk.writer.send(wish, isMeant(wish)).catch(() => {})
}

/** A pause that was taken back before it began is none. */
export const isMeant = (wish: Wish) => (job: Job): boolean =>
  wish.type !== 'BeginPause' || wish.reason !== 'user' || job.state !== 'running' || job.pauseRequestedAt !== null

/** What begins a stop of this kind; null where it is only ended. */
export const firstWish = (reason: StopReason): Wish | null => {
  switch (reason.kind) {
    case 'cancel':
      return { type: 'BeginCancel' }
    case 'pause':
      return { type: 'BeginPause', reason: 'user' }
    case 'budget_exhausted':
      return { type: 'BeginPause', reason: 'budget_exhausted', exhausted: reason.exhausted }
    case 'overrun':
    case 'unknown_outcome':
    case 'artifact_missing':
      return { type: 'BeginPause', reason: reason.kind, detail: reason.detail }
    case 'wait':
    case 'drain':
    case 'failed':
    case 'lost':
      return null
  }
}
