import type { Amounts } from '../../domain/job/events.ts'
import { isRejection, type Rejection } from '../../domain/rejection.ts'
import { Interrupted } from '../defineJob.ts'
import type { CallDesk, KeyedRequest } from './callDesk.ts'
import { onceThereIsRoom } from './onceThereIsRoom.ts'

/** One permitted send: its number in the ledger, the key it carries, and whether a held send of that key is part of it. */
export type Send = { readonly call: number; readonly callKey: string; readonly tookOver: boolean }

/** Waits for the job's other calls while the limits leave no room; when none is left, the job pauses. */
export const reserveSend = async (
  desk: CallDesk,
  call: KeyedRequest,
  fingerprint: string,
  worstCase: Amounts,
): Promise<Send> => {
  const outcome = await onceThereIsRoom(desk, () => {
    if (desk.stopping.reason !== null) throw new Interrupted()
    return {
      type: 'ReserveCall',
      ...nextKey(desk, fingerprint),
      fingerprint,
      stage: call.stage,
      key: call.key,
      provider: desk.provider.name,
      model: call.request.model,
      worstCase,
    }
  })
  if (isRejection(outcome)) {
    stopFor(desk, outcome, worstCase)
    throw new Interrupted()
  }
  const reserved = outcome.events.find((event) => event.type === 'ProviderCallReserved')
  if (reserved === undefined) throw new Error('a new reservation is never a repeat')
  return { call: reserved.data.call, callKey: reserved.data.callKey, tookOver: reserved.data.takesOver !== undefined }
}

const stopFor = (desk: CallDesk, rejection: Rejection, worstCase: Amounts): void => {
  switch (rejection.rejected) {
    case 'budget_exhausted':
      return desk.stopping.stop({
        kind: 'budget_exhausted',
        exhausted: { limit: String(rejection.details['limit']), needs: worstCase },
      })
    case 'overrun':
      return desk.stopping.stop({ kind: 'overrun', detail: rejection.message })
    case 'cancel_requested':
      return desk.stopping.stop({ kind: 'cancel' })
    case 'pause_requested':
      return desk.stopping.stop({ kind: 'pause' })
    default:
      throw new Error(`a reservation was refused (${rejection.rejected}): ${rejection.message}`)
  }
}

/**
 * The key of the next send. A held send whose key the provider still replays is sent again under it; where the
 * provider does not, and the job is to pause on unknown outcomes, nothing is sent.
 */
const nextKey = (desk: CallDesk, fingerprint: string): { callKey: string; takesOver: number | undefined } => {
  const { n, pending, firstAt } = desk.index.sends(fingerprint)
  const callKey = `${desk.jobId}:${fingerprint}:${n}`
  const held = pending.filter((call) => desk.writer.job.holds[call] !== undefined)
  const last = held.at(-1)
  if (last === undefined) return { callKey, takesOver: undefined }
  const reservation = desk.writer.job.holds[last]
  // Where its sender's clock was ahead of ours the send seems to be in the future: that makes it no younger.
  const sentAgoMs = Math.abs(desk.clock.now() - Date.parse(firstAt ?? ''))
  if (reservation?.callKey === callKey && sentAgoMs < desk.provider.replaysForSeconds * 1_000) {
    return { callKey, takesOver: last }
  }
  if (desk.spec.onUnknown === 'pause') {
    desk.stopping.stop({ kind: 'unknown_outcome', detail: `nobody knows whether call ${last} was billed` })
    throw new Interrupted()
  }
  return { callKey, takesOver: undefined }
}
