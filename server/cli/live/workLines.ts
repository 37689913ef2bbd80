import type { JobDocument } from '../../../domain/job/document.ts'
import { isTerminal } from '../../../domain/job/job.ts'
import { dollarsText } from '../dollarsText.ts'
import { cut, joined, type Line, span } from './line.ts'
import { untilText } from './timeText.ts'

/** Who works the job, and what it waits for. */
export const workerLine = (job: JobDocument, width: number, nowMs: number): Line => {
  if (isTerminal(job.state) || job.state === 'paused') return []
  const waits = waitsText(job, nowMs)
  const waiting: Line = waits === '' ? [] : [span(`waits for ${waits}`, 'yellow')]
  if (job.leaseOwner === null || job.leaseExpiresAt === null) return joined([[span('none yet')], waiting], width)
  const lease = untilText(job.leaseExpiresAt, nowMs)
  return joined(
    [cut([span(job.leaseOwner)], Math.max(12, Math.floor(width / 3))), lease === null ? [span('its lease has run out', 'yellow')] : [span(`lease ${lease}`)], waiting],
    width,
  )
}

/** Of the reason that is known, with the time left; an instant that has come is not told any more. */
const waitsText = ({ state, waitingFor, retryAt }: JobDocument, nowMs: number): string => {
  const reason = state === 'retry_wait' ? 'its next attempt' : waitingFor?.reason.replaceAll('_', ' ')
  if (reason === undefined) return state === 'queued' ? 'a worker' : ''
  const until = waitingFor?.until ?? retryAt
  if (until === null) return reason
  const left = untilText(until, nowMs)
  if (left !== null) return `${reason}, ${left}`
  return state === 'queued' || state === 'retry_wait' ? 'a worker' : reason
}

export const triesLine = ({ attemptCount, maxAttempts, lostLeaseCount }: JobDocument, width: number): Line =>
  joined(
    [
      attemptCount <= 1 ? [] : [span(`attempt ${attemptCount} of ${maxAttempts}`)],
      lostLeaseCount === 0 ? [] : [span(`lost its worker ${lostLeaseCount} times in a row`, 'yellow')],
    ],
    width,
  )

export const heldLine = ({ budget }: JobDocument, width: number): Line =>
  budget.heldCostUsd === '0'
    ? []
    : joined([[span(`${dollarsText(budget.heldCostUsd)}: it may have been billed`, 'yellow')], [span('`job reconcile` books it')]], width)

/** Why it stands still or has ended badly. */
export const whyLine = ({ state, errorCode, errorSummary }: JobDocument, width: number): Line => {
  if (state !== 'failed' && state !== 'paused' && state !== 'pausing' && state !== 'retry_wait') return []
  const style = state === 'failed' ? 'red' : 'yellow'
  if (errorCode === null) return [span('somebody asked it to pause', style)]
  return cut([span(errorCode, style), span(errorSummary === null ? '' : `: ${errorSummary}`)], width)
}

/** What somebody has asked of it and is not done yet. */
export const askedLine = ({ state, pauseRequestedAt, cancellationRequestedAt }: JobDocument): Line => {
  if (isTerminal(state) || state === 'paused') return []
  if (cancellationRequestedAt !== null) return [span('to be cancelled', 'yellow')]
  return pauseRequestedAt === null ? [] : [span('to pause', 'yellow')]
}
