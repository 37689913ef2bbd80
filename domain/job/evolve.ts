import { minus, nothing, plus } from '../budget.ts'
import { evolving } from '../evolving.ts'
import type { JobId } from '../ids.ts'
import { addUsd, type Usd, zeroUsd } from '../money.ts'
import { inputTokensOf } from '../pricing.ts'
import { unreachable } from '../rejection.ts'
import type { Amounts, EventData, PlacedEvent } from './events.ts'
import type { Job, Reservation } from './job.ts'
import { nextState } from './transitions.ts'

/** Raise it whenever the same events would fold to another state: snapshots of other versions are not used. */
export const evolveVersion = 2

/** An event on its way into the fold, with the job it belongs to. */
export type FoldedEvent = PlacedEvent & { readonly jobId: JobId }

/**
 * The job after these events; null before the first. It remembers and never refuses: the events have happened.
 * Raises for a first event that submits nothing, which no legal log holds.
 */
export const fold = evolving<Job, FoldedEvent>((event) => submitted(event), (job, event) => change(job, event))

/** Applies one event. */
export const evolve = (job: Job | null, event: FoldedEvent): Job => {
  const next = fold(job, [event])
  if (next === null) throw new Error('an event folds to a job')
  return next
}

/**
 * Applies one event to a job that nobody else holds, in place: for readers of long logs, who keep no earlier state.
 * `null` begins one.
 */
export const evolveInPlace = (job: Job | null, event: FoldedEvent): Job => {
  if (job === null) return submitted(event)
  change(job, event)
  return job
}

const submitted = (event: FoldedEvent): Job => {
  if (event.type !== 'JobSubmitted') throw new Error(`job ${event.jobId} begins with ${event.type}, not JobSubmitted`)
  const spec = event.data
  return {
    jobId: event.jobId,
    spec,
    state: 'queued',
    revision: event.revision,
    stageIndex: 0,
    progress: null,
    checkpoint: null,
    lastToken: 0,
    lease: null,
    attemptCount: 0,
    lostLeaseCount: 0,
    retry: null,
    waitingFor: spec.startAfter === null ? null : { reason: 'start_after', until: spec.startAfter },
    limits: spec.limits,
    money: { spent: nothing, held: nothing, reserved: nothing },
    byProvider: {},
    lastCall: 0,
    open: {},
    holds: {},
    overrun: false,
    exhausted: null,
    durationMs: 0,
    pauseRequestedAt: null,
    pauseReason: null,
    resumeRequested: false,
    cancellationRequestedAt: null,
    resumeCount: 0,
    retryCount: 0,
    commandIds: [event.meta.commandId],
    lastCommandId: event.meta.commandId,
    error: null,
    output: null,
    createdAt: event.recordedAt,
    startedAt: null,
    finishedAt: null,
  }
}

const change = (job: Job, event: FoldedEvent): void => {
  job.revision = event.revision
  job.lastCommandId = event.meta.commandId
  job.state = nextState(job.state, event.type) ?? job.state
  noteOwner(job, event)
  if ('progress' in event.data && event.data.progress !== undefined) job.progress = event.data.progress
  const { recordedAt } = event

  switch (event.type) {
    case 'JobSubmitted':
      return
    case 'JobLeased':
      job.lastToken = event.data.token
      job.waitingFor = null
      job.lease = {
        token: event.data.token,
        owner: event.data.owner,
        leaseMs: event.data.leaseMs,
        expiresAt: event.data.leaseExpiresAt,
        heartbeatAt: recordedAt,
        ownerRevision: event.revision,
        startedAt: null,
        durationMsBefore: job.durationMs,
      }
      return
    case 'JobStarted':
      job.attemptCount += 1
      job.startedAt ??= recordedAt
      if (job.lease !== null) job.lease.startedAt = recordedAt
      return
    case 'LeaseRenewed':
      job.waitingFor = event.data.waitingFor ?? null
      return
    case 'LeaseExpired':
      job.lostLeaseCount += 1
      uncountAttempt(job)
      job.lease = null
      return
    case 'LeaseReleased':
      uncountAttempt(job)
      job.lease = null
      return
    case 'RetryScheduled':
      if (!event.data.countsAsAttempt) uncountAttempt(job)
      job.lease = null
      job.error = errorOf(event.data)
      job.retry = {
        at: event.data.retryAt,
        delayMs: event.data.delayMs,
        revision: event.revision,
        reason: event.data.delayReason,
      }
      job.waitingFor = { reason: event.data.delayReason, until: event.data.retryAt }
      return
    case 'BackoffElapsed':
      job.retry = null
      job.waitingFor = null
      return
    case 'JobRetried':
      job.retryCount += 1
      job.attemptCount = 0
      job.lostLeaseCount = 0
      job.error = null
      job.finishedAt = null
      remember(job, event)
      return
    case 'PauseRequested':
      job.pauseRequestedAt = recordedAt
      job.resumeRequested = false
      remember(job, event)
      return
    case 'JobPausing':
      job.pauseReason = event.data.reason
      return
    case 'JobPaused':
      uncountAttempt(job)
      job.lease = null
      job.retry = null
      job.pauseReason = event.data.reason
      job.pauseRequestedAt = null
      job.waitingFor = { reason: event.data.reason, until: null }
      return
    case 'JobResumed':
      job.resumeCount += 1
      remember(job, event)
      if (job.state === 'pausing') {
        job.resumeRequested = true
        job.overrun = false
      } else if (job.state === 'queued') {
        // A bill that came behind the request for this resume is not answered by it.
        const unanswered = job.resumeRequested && job.overrun
        answerPause(job)
        job.overrun = unanswered
      } else withdrawPause(job)
      return
    case 'CancellationRequested':
      job.cancellationRequestedAt = recordedAt
      remember(job, event)
      return
    case 'JobCancelling':
      return
    case 'JobCancelled':
      finish(job, recordedAt)
      return
    case 'JobSucceeded':
      job.output = event.data.output
      job.error = null
      finish(job, recordedAt)
      return
    case 'JobFailed':
      job.error = errorOf(event.data)
      finish(job, recordedAt)
      return

    case 'CheckpointRecorded':
      job.checkpoint = { stage: event.data.stage, key: event.data.key, at: recordedAt }
      job.lostLeaseCount = 0
      return
    case 'StageCompleted':
      job.stageIndex += 1
      if (job.stageIndex < job.spec.stages.length) job.progress = null // The last stage's stays for good.
      job.checkpoint = { stage: event.data.stage, key: '', at: recordedAt }
      job.lostLeaseCount = 0
      return
    case 'CheckpointInvalidated':
      job.stageIndex = job.spec.stages.indexOf(event.data.stage)
      job.checkpoint = null
      job.progress = null
      return
    case 'ExamplesAccepted':
      job.money.spent = { ...job.money.spent, examples: job.money.spent.examples + event.data.count }
      return
    case 'JobLogged':
      return

    case 'ProviderCallReserved': {
      const { call, takesOver, ...data } = event.data
      if (takesOver !== undefined) release(job, 'held', takesOver)
      job.lastCall = call
      job.waitingFor = null
      job.open[call] = { ...data, reservedAt: recordedAt }
      job.money.reserved = plus(job.money.reserved, data.worstCase)
      return
    }
    case 'ProviderCallSettled': {
      const { call, usage, costUsd } = event.data
      const reservation = release(job, job.open[call] === undefined ? 'held' : 'reserved', call)
      if (reservation === null) return
      job.lostLeaseCount = 0
      if (event.data.overrun) job.overrun = true
      spend(job, reservation.provider, {
        costUsd,
        calls: 1,
        inputTokens: usage === null ? reservation.worstCase.inputTokens : inputTokensOf(usage),
        outputTokens: usage === null ? reservation.worstCase.outputTokens : usage.outputTokens,
        examples: 0,
      })
      return
    }
    case 'ProviderCallFailed': {
      const reservation = release(job, 'reserved', event.data.call)
      if (reservation !== null && event.data.billed === 'unknown') hold(job, event.data.call, reservation)
      return
    }
    case 'ProviderCallOrphaned': {
      const reservation = release(job, 'reserved', event.data.call)
      if (reservation !== null) hold(job, event.data.call, reservation)
      return
    }
    case 'ProviderCallReconciled': {
      const { call, costUsd, inputTokens, outputTokens, billed } = event.data
      const reservation = release(job, 'held', call)
      remember(job, event)
      if (reservation === null) return
      spend(job, reservation.provider, { costUsd, calls: billed ? 1 : 0, inputTokens, outputTokens, examples: 0 })
      return
    }
    case 'BudgetExhausted':
      job.exhausted = event.data
      return
    case 'BudgetRaised':
      job.limits = { ...job.limits, ...givenLimits(event.data.limits) }
      remember(job, event)
      return
    default:
      unreachable(event)
  }
}

/** Any event of the owner is its heartbeat, and the last one is how long the claim has lasted. */
const noteOwner = (job: Job, event: FoldedEvent): void => {
  const lease = job.lease
  if (lease === null || event.meta.leaseToken !== lease.token) return
  lease.ownerRevision = event.revision
  lease.heartbeatAt = event.recordedAt
  const at = Date.parse(event.recordedAt)
  lease.expiresAt = new Date(at + lease.leaseMs).toISOString()
  if (lease.startedAt === null) return
  // A clock set back during a claim must not take time off the job.
  const claimMs = Math.max(0, at - Date.parse(lease.startedAt))
  job.durationMs = Math.max(job.durationMs, lease.durationMsBefore + claimMs)
}

/** Pauses, drains, asked waits and lost leases use up no attempt; a job that was only leased had begun none. */
const uncountAttempt = (job: Job): void => {
  if (job.lease !== null && job.lease.startedAt !== null) job.attemptCount -= 1
}

/** People's commands are remembered, so that a repeat is known in any state. */
const remember = (job: Job, event: FoldedEvent): void => {
  if (event.meta.leaseToken === undefined && !job.commandIds.includes(event.meta.commandId)) {
    job.commandIds.push(event.meta.commandId)
  }
}

/** A pause that has not begun yet is taken back; what a limit or a bill stops, it stops as before. */
const withdrawPause = (job: Job): void => {
  job.pauseRequestedAt = null
  job.pauseReason = null
  job.resumeRequested = false
}

/** Somebody has seen why the job paused and lets it go on. */
const answerPause = (job: Job): void => {
  withdrawPause(job)
  job.exhausted = null
  job.waitingFor = null
}

const finish = (job: Job, at: string): void => {
  // A pause that the end came before must not stop a retry of the job.
  withdrawPause(job)
  job.lease = null
  job.retry = null
  job.waitingFor = null
  job.finishedAt = at
}

const errorOf = (data: { errorCode: string; errorSummary: string; errorKind: string }): Job['error'] => ({
  code: data.errorCode,
  summary: data.errorSummary,
  kind: data.errorKind,
})

const release = (job: Job, from: 'reserved' | 'held', call: number): Reservation | null => {
  const calls = from === 'reserved' ? job.open : job.holds
  const reservation = calls[call]
  if (reservation === undefined) return null
  job.money[from] = minus(job.money[from], reservation.worstCase)
  delete calls[call]
  return reservation
}

const hold = (job: Job, call: number, reservation: Reservation): void => {
  job.holds[call] = reservation
  job.money.held = plus(job.money.held, reservation.worstCase)
}

const spend = (job: Job, provider: string, amounts: Amounts): void => {
  job.money.spent = plus(job.money.spent, amounts)
  // A provider may be named "constructor", which every object seems to have.
  const known = Object.hasOwn(job.byProvider, provider) ? job.byProvider[provider] : undefined
  const before: { calls: number; costUsd: Usd } = known ?? { calls: 0, costUsd: zeroUsd }
  job.byProvider[provider] = { calls: before.calls + amounts.calls, costUsd: addUsd(before.costUsd, amounts.costUsd) }
}

/** Limits that were named; an absent one is left as it was. */
export const givenLimits = (limits: EventData<'BudgetRaised'>['limits']): Partial<Job['limits']> =>
  Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined))
