import type { JobEvent } from '../domain/job/events.ts'
import type { JobState } from '../domain/job/job.ts'
import { nextState } from '../domain/job/transitions.ts'
import { zeroUsd } from '../domain/money.ts'
import type { ListedJob } from './jobList.ts'
import { givenBack, held, reserved, spent } from './jobListMoney.ts'

type Changes = Partial<ListedJob>

export const submitted = (event: Extract<JobEvent, { type: 'JobSubmitted' }>): ListedJob => {
  const { jobId, revision, position, recordedAt, data: spec } = event
  return {
    jobId,
    projectId: spec.projectId,
    type: spec.type,
    definitionVersion: spec.definitionVersion,
    state: 'queued',
    stage: spec.stages[0] ?? null,
    stageIndex: 0,
    stages: spec.stages,
    progress: null,
    waitingFor: spec.startAfter === null ? null : { reason: 'start_after', until: spec.startAfter },
    attemptCount: 0,
    priority: spec.priority,
    labels: spec.labels,
    pauseReason: null,
    errorCode: null,
    maximumCostUsd: spec.limits.maximumCostUsd,
    spentCostUsd: zeroUsd,
    heldCostUsd: zeroUsd,
    reservedCostUsd: zeroUsd,
    callsMade: 0,
    idempotencyKey: spec.idempotencyKey,
    inputConfigHash: spec.inputConfigHash,
    createdAt: recordedAt,
    startedAt: null,
    finishedAt: null,
    revision,
    position,
    unknownEvents: 0,
    fold: { failureCode: null, leaseStarted: false, open: {}, holds: {} },
  }
}

/** The job after one more event. */
export const after = (job: ListedJob, event: JobEvent): ListedJob => {
  const { revision, data } = event
  const progress = 'progress' in data ? (data.progress ?? job.progress) : job.progress
  const state = nextState(job.state, event.type) ?? job.state
  const next = { ...job, revision, progress, state, ...changes(job, event, state) }
  next.stage = next.stages[next.stageIndex] ?? null
  next.errorCode = errorCodeOf(next)
  return next
}

/** A job that paused shows why; that somebody asked for it is no error. */
const errorCodeOf = ({ state, pauseReason, fold }: ListedJob): string | null => {
  if (state !== 'paused' && state !== 'pausing') return fold.failureCode
  return pauseReason === 'user' ? null : pauseReason
}

/** What the event changes, beside revision, progress and what follows from other fields. */
const changes = (job: ListedJob, event: JobEvent, state: JobState): Changes => {
  switch (event.type) {
    case 'JobLeased':
      return { waitingFor: null }
    case 'JobStarted':
      return {
        attemptCount: job.attemptCount + 1,
        startedAt: job.startedAt ?? event.recordedAt,
        fold: { ...job.fold, leaseStarted: true },
      }
    case 'LeaseRenewed':
      return { waitingFor: event.data.waitingFor ?? null }
    case 'LeaseExpired':
    case 'LeaseReleased':
      return uncounted(job)
    case 'RetryScheduled': {
      const { countsAsAttempt, errorCode, delayReason, retryAt } = event.data
      const fold = { ...job.fold, leaseStarted: false, failureCode: errorCode }
      const waitingFor = { reason: delayReason, until: retryAt }
      return countsAsAttempt ? { fold, waitingFor } : { ...uncounted(job), fold, waitingFor }
    }
    case 'BackoffElapsed':
      return { waitingFor: null }
    case 'JobRetried':
      return { attemptCount: 0, finishedAt: null, fold: { ...job.fold, failureCode: null } }
    case 'JobPausing':
      return { pauseReason: event.data.reason }
    case 'JobPaused':
      return { ...uncounted(job), pauseReason: event.data.reason, waitingFor: { reason: event.data.reason, until: null } }
    case 'JobResumed':
      return state === 'pausing' ? {} : { pauseReason: null, waitingFor: null }
    case 'JobCancelled':
      return { ...finished(job, event), pauseReason: null }
    case 'JobSucceeded':
      return finished(job, event)
    case 'JobFailed':
      return finished(job, event, event.data.errorCode)

    case 'StageCompleted': {
      const stageIndex = job.stageIndex + 1
      // It was that of the stage that has ended; the last one's stays for good.
      return stageIndex < job.stages.length ? { stageIndex, progress: null } : { stageIndex }
    }
    case 'CheckpointInvalidated':
      return { stageIndex: Math.max(0, job.stages.indexOf(event.data.stage)), progress: null }

    case 'ProviderCallReserved':
      return { ...reserved(job, event.data.call, event.data.worstCase, event.data.takesOver), waitingFor: null }
    case 'ProviderCallSettled': {
      const { call, costUsd } = event.data
      return spent(job, call, job.fold.open[call] === undefined ? 'holds' : 'open', { costUsd, calls: 1 })
    }
    case 'ProviderCallFailed':
      return event.data.billed === 'unknown' ? held(job, event.data.call) : givenBack(job, event.data.call)
    case 'ProviderCallOrphaned':
      return held(job, event.data.call)
    case 'ProviderCallReconciled': {
      const { call, costUsd, billed } = event.data
      return spent(job, call, 'holds', { costUsd, calls: billed ? 1 : 0 })
    }
    case 'BudgetRaised': {
      const { maximumCostUsd } = event.data.limits
      return maximumCostUsd === undefined ? {} : { maximumCostUsd }
    }
    default:
      return {}
  }
}

/** Pauses, drains, asked waits and lost leases use up no attempt. */
const uncounted = (job: ListedJob): Changes => ({
  attemptCount: job.fold.leaseStarted ? job.attemptCount - 1 : job.attemptCount,
  fold: { ...job.fold, leaseStarted: false },
})

const finished = (job: ListedJob, event: JobEvent, failureCode?: string): Changes => ({
  waitingFor: null,
  finishedAt: event.recordedAt,
  fold: {
    ...job.fold,
    leaseStarted: false,
    failureCode: failureCode ?? (event.type === 'JobSucceeded' ? null : job.fold.failureCode),
  },
})
