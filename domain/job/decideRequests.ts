import { exceededMessage, firstExceeded, firstLowered } from '../budget.ts'
import { type Rejection, reject } from '../rejection.ts'
import type { CommandOf } from './commands.ts'
import { type Decision, isIn, repeated, wrongState } from './decision.ts'
import type { Limits, NewEvent, RaisedLimits } from './events.ts'
import { givenLimits } from './evolve.ts'
import { isTerminal, type Job } from './job.ts'

/** A known key with the same configuration is the same job; with another it is a conflict, in every state. */
export const submit = (command: CommandOf<'SubmitJob'>, job: Job | null): Decision => {
  if (job === null) return [{ type: 'JobSubmitted', data: command.spec }]
  if (job.spec.inputConfigHash === command.spec.inputConfigHash) return repeated
  return reject(
    'idempotency_conflict',
    `the key "${job.spec.idempotencyKey}" belongs to job ${job.jobId} (${job.state}), which was submitted with another ` +
      `configuration: submit with another key, or with the same configuration`,
    {
      jobId: job.jobId,
      state: job.state,
      idempotencyKey: job.spec.idempotencyKey,
      inputConfigHash: job.spec.inputConfigHash,
      givenInputConfigHash: command.spec.inputConfigHash,
    },
  )
}

export const pause = (command: CommandOf<'PauseJob'>, job: Job): Decision => {
  const requested: NewEvent = { type: 'PauseRequested', data: {} }
  if (isTerminal(job.state) || job.state === 'cancelling') return wrongState(job, command)
  if (isIn(job, 'paused') || (job.pauseRequestedAt !== null && !job.resumeRequested)) return repeated
  if (isIn(job, 'pausing')) return job.resumeRequested ? [requested] : repeated
  if (isIn(job, 'queued', 'retry_wait')) return [requested, { type: 'JobPaused', data: { reason: 'user' } }]
  return [requested]
}

export const resume = (command: CommandOf<'ResumeJob'>, job: Job): Decision => {
  const limits = command.limits ?? {}
  const pausedOrPausing = isIn(job, 'paused', 'pausing')
  if (!pausedOrPausing && job.pauseRequestedAt === null) {
    const atWork = isIn(job, 'queued', 'leased', 'running', 'retry_wait')
    // With limits that are not in force it is no repeat, and dropping them in silence would be worse than a no.
    return atWork && job.resumeCount > 0 && raised(job, limits).length === 0 ? repeated : wrongState(job, command)
  }
  if (job.cancellationRequestedAt !== null) return wrongState(job, command)
  const lower = lowered(job, limits)
  if (lower !== null) return lower
  const refused = pausedOrPausing ? cannotGoOn(job, { ...job.limits, ...givenLimits(limits) }) : null
  if (refused !== null) return refused
  if (job.resumeRequested) return raised(job, limits)
  return [...raised(job, limits), { type: 'JobResumed', data: {} }]
}

export const cancel = (command: CommandOf<'CancelJob'>, job: Job): Decision => {
  if (job.cancellationRequestedAt !== null) return repeated
  if (isTerminal(job.state)) return wrongState(job, command)
  const requested: NewEvent = { type: 'CancellationRequested', data: {} }
  return isIn(job, 'queued', 'retry_wait', 'paused')
    ? [requested, { type: 'JobCancelled', data: {} }]
    : [requested]
}

export const retry = (command: CommandOf<'RetryJob'>, job: Job): Decision => {
  if (isIn(job, 'queued', 'leased', 'running', 'retry_wait') && job.retryCount > 0) return repeated
  if (job.state !== 'failed') return wrongState(job, command)
  if (job.error?.kind === 'policy_block') {
    return reject('policy_block', `job ${job.jobId} failed by policy (${job.error.code}): it is never retried`, {
      jobId: job.jobId,
      errorCode: job.error.code,
    })
  }
  return [{ type: 'JobRetried', data: {} }]
}

export const raiseBudget = (command: CommandOf<'RaiseBudget'>, job: Job): Decision => {
  if (isTerminal(job.state)) return wrongState(job, command)
  return lowered(job, command.limits) ?? raised(job, command.limits)
}

const raised = (job: Job, limits: RaisedLimits): readonly NewEvent[] => {
  const next: Limits = { ...job.limits, ...givenLimits(limits) }
  return JSON.stringify(next) === JSON.stringify(job.limits) ? [] : [{ type: 'BudgetRaised', data: { limits } }]
}

const lowered = (job: Job, limits: RaisedLimits): Rejection | null => {
  const name = firstLowered(job.limits, limits)
  if (name === null) return null
  const now = job.limits[name] ?? 'not capped'
  return reject('limit_lower', `${name} is ${now}; ${limits[name]} would lower it: give the new total`, {
    jobId: job.jobId,
    limit: name,
    now,
    given: limits[name],
  })
}

/** Why a resumed job would stop again at once. */
const cannotGoOn = (job: Job, limits: Limits): Rejection | null => {
  if (job.pauseReason === 'unknown_outcome' && Object.keys(job.holds).length > 0) {
    const calls = Object.keys(job.holds).map(Number)
    return reject(
      'unreconciled_calls',
      `job ${job.jobId} pauses on unknown outcomes, and nobody has said yet what became of call ${calls.join(', ')}: ` +
        `job reconcile`,
      { jobId: job.jobId, calls },
    )
  }
  if (job.exhausted === null) return null
  const { maximumDurationSeconds } = limits
  if (maximumDurationSeconds !== null && job.durationMs >= maximumDurationSeconds * 1_000) {
    return reject(
      'budget_exhausted',
      `job ${job.jobId} has worked ${job.durationMs / 1_000} s of maximumDurationSeconds ${maximumDurationSeconds}: ` +
        `give a higher one`,
      { jobId: job.jobId, limit: 'maximumDurationSeconds', maximum: maximumDurationSeconds, used: job.durationMs / 1_000 },
    )
  }
  const exceeded = firstExceeded(limits, job.money, job.exhausted.needs)
  if (exceeded === null) return null
  return reject(
    'budget_exhausted',
    `job ${job.jobId} cannot go on: ${exceededMessage(exceeded)}. Give ${exceeded.limit} at least ${exceeded.needed}`,
    { jobId: job.jobId, ...exceeded },
  )
}
