import { exceededMessage, examplesExceeded } from '../budget.ts'
import { reject, type Rejection } from '../rejection.ts'
import { chooseDelay } from '../retry.ts'
import type { CommandOf, Failure } from './commands.ts'
import { callsOpen, type Decision, isIn, notOwner, paused, repeated, wrongState } from './decision.ts'
import type { NewEvent } from './events.ts'
import { type Job, stageAtWork } from './job.ts'

// Work in hand may still be recorded while the job is being flushed.
const atWork = ['running', 'pausing', 'cancelling'] as const

export const recordCheckpoint = (command: CommandOf<'RecordCheckpoint'>, job: Job): Decision => {
  const refused = notOwner(job, command) ?? notAtStage(job, command)
  if (refused !== null) return refused
  if (job.checkpoint?.stage === command.stage && job.checkpoint.key === command.key) return repeated
  const { stage, key, value, progress } = command
  return [{ type: 'CheckpointRecorded', data: { stage, key, value, progress } }]
}

export const completeStage = (command: CommandOf<'CompleteStage'>, job: Job): Decision => {
  const refused = notOwner(job, command)
  if (refused !== null) return refused
  if (job.spec.stages.slice(0, job.stageIndex).includes(command.stage)) return repeated
  const { stage, startedAt, durationMs, result, progress } = command
  return (
    notAtStage(job, command) ??
    callsOpen(job, command) ?? [
      { type: 'StageCompleted', data: { stage, startedAt, durationMs, result, progress } },
    ]
  )
}

/** Reopens a stage whose stored result is gone, and those after it. */
export const invalidateCheckpoint = (command: CommandOf<'InvalidateCheckpoint'>, job: Job): Decision => {
  const refused = notOwner(job, command)
  if (refused !== null) return refused
  if (!isIn(job, ...atWork)) return wrongState(job, command)
  const index = job.spec.stages.indexOf(command.stage)
  if (index === -1 || index > job.stageIndex) {
    return reject('wrong_stage', `job ${job.jobId} has not reached a stage "${command.stage}"`, {
      jobId: job.jobId,
      stage: command.stage,
      stages: job.spec.stages,
    })
  }
  const { stage, sha256, reason } = command
  return [{ type: 'CheckpointInvalidated', data: { stage, sha256, reason } }]
}

export const acceptExamples = (command: CommandOf<'AcceptExamples'>, job: Job): Decision => {
  const refused = notOwner(job, command) ?? notAtStage(job, command)
  if (refused !== null) return refused
  const exceeded = examplesExceeded(job.limits, job.money, command.count)
  if (exceeded !== null) {
    return reject('budget_exhausted', `job ${job.jobId}: ${exceededMessage(exceeded)}`, { jobId: job.jobId, ...exceeded })
  }
  const { stage, key, count, examples, progress } = command
  return [{ type: 'ExamplesAccepted', data: { stage, key, count, examples, progress } }]
}

export const log = (command: CommandOf<'LogJob'>, job: Job): Decision =>
  notOwner(job, command) ?? [{ type: 'JobLogged', data: { level: command.level, message: command.message } }]

export const beginPause = (command: CommandOf<'BeginPause'>, job: Job): Decision => {
  const refused = notOwner(job, command)
  if (refused !== null) return refused
  if (isIn(job, 'pausing', 'cancelling')) return repeated
  if (job.state !== 'running') return wrongState(job, command)
  return [
    ...(command.exhausted === undefined ? [] : [{ type: 'BudgetExhausted' as const, data: command.exhausted }]),
    { type: 'JobPausing', data: { reason: command.reason, detail: command.detail } },
  ]
}

export const finishPause = (command: CommandOf<'FinishPause'>, job: Job): Decision => {
  const refused = notOwner(job, command) ?? callsOpen(job, command)
  if (refused !== null) return refused
  if (job.state !== 'pausing') return wrongState(job, command)
  if (job.cancellationRequestedAt !== null) return cancelled(job)
  return paused(job, job.pauseReason ?? 'user', command.progress)
}

export const beginCancel = (command: CommandOf<'BeginCancel'>, job: Job): Decision => {
  const refused = notOwner(job, command)
  if (refused !== null) return refused
  if (job.state === 'cancelling') return repeated
  if (!isIn(job, 'running', 'pausing') || job.cancellationRequestedAt === null) return wrongState(job, command)
  return [{ type: 'JobCancelling', data: {} }]
}

export const finishCancel = (command: CommandOf<'FinishCancel'>, job: Job): Decision => {
  const refused = notOwner(job, command) ?? callsOpen(job, command)
  if (refused !== null) return refused
  if (job.state !== 'cancelling') return wrongState(job, command)
  return [{ type: 'JobCancelled', data: { progress: command.progress } }]
}

/** A recorded cancel beats a success not yet written; a recorded pause does not. */
export const succeed = (command: CommandOf<'SucceedJob'>, job: Job): Decision => {
  const refused = notOwner(job, command) ?? callsOpen(job, command)
  if (refused !== null) return refused
  if (isIn(job, 'running', 'cancelling') && job.cancellationRequestedAt !== null) return cancelled(job)
  if (job.state !== 'running' || stageAtWork(job) !== null) return wrongState(job, command)
  return [{ type: 'JobSucceeded', data: { output: command.output } }]
}

/** Another try where the failure allows one and an attempt is left; else the end. */
export const failAttempt = (command: CommandOf<'FailAttempt'>, job: Job): Decision => {
  const refused = notOwner(job, command) ?? callsOpen(job, command)
  if (refused !== null) return refused
  if (isIn(job, 'running', 'cancelling') && job.cancellationRequestedAt !== null) return cancelled(job)
  if (job.state !== 'running') return wrongState(job, command)
  const { failure, progress } = command
  const ended = { errorCode: failure.errorCode, errorSummary: failure.errorSummary, errorKind: failure.errorKind }
  if (!isRetryable(failure) || job.attemptCount >= job.spec.maxAttempts) {
    return [{ type: 'JobFailed', data: { ...ended, progress } }]
  }
  const chosen = chooseDelay({
    attempt: job.attemptCount,
    askedMs: command.retryAfter?.ms ?? null,
    luck: command.luck,
  })
  return scheduled(job, command, { delayMs: chosen.delayMs, delayReason: chosen.reason, countsAsAttempt: true })
}

export const waitOut = (command: CommandOf<'WaitOut'>, job: Job): Decision => {
  const refused = notOwner(job, command) ?? callsOpen(job, command)
  if (refused !== null) return refused
  if (isIn(job, 'running', 'cancelling') && job.cancellationRequestedAt !== null) return cancelled(job)
  if (job.state !== 'running') return wrongState(job, command)
  return scheduled(job, command, {
    delayMs: command.delayMs,
    delayReason: command.delayReason,
    countsAsAttempt: false,
  })
}

const scheduled = (
  job: Job,
  command: CommandOf<'FailAttempt' | 'WaitOut'>,
  wait: { delayMs: number; delayReason: 'backoff' | 'retry_after'; countsAsAttempt: boolean },
): readonly NewEvent[] => [
  {
    type: 'RetryScheduled',
    data: {
      errorCode: command.failure.errorCode,
      errorSummary: command.failure.errorSummary,
      errorKind: command.failure.errorKind,
      retryAt: new Date(Date.parse(command.at) + wait.delayMs).toISOString(),
      ...wait,
      luck: command.luck,
      retryAfter: command.retryAfter,
      progress: command.progress,
    },
  },
  // The job is in retry_wait now, from where it may be paused or cancelled at once.
  ...(job.pauseRequestedAt === null ? [] : paused(job, 'user')),
]

const isRetryable = (failure: Failure): boolean =>
  failure.errorKind === 'transient' || (failure.errorKind === 'provider' && failure.retryable)

const cancelled = (job: Job): readonly NewEvent[] => [
  ...(job.state === 'cancelling' ? [] : [{ type: 'JobCancelling' as const, data: {} }]),
  { type: 'JobCancelled', data: {} },
]

const notAtStage = (
  job: Job,
  command: CommandOf<'RecordCheckpoint' | 'CompleteStage' | 'AcceptExamples'>,
): Rejection | null => {
  if (!isIn(job, ...atWork)) return wrongState(job, command)
  const stage = stageAtWork(job)
  return stage === command.stage
    ? null
    : reject('wrong_stage', `job ${job.jobId} is at stage "${stage ?? 'none'}", not "${command.stage}"`, {
        jobId: job.jobId,
        stage,
        given: command.stage,
      })
}

