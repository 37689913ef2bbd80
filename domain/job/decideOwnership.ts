import { reject } from '../rejection.ts'
import type { CommandOf } from './commands.ts'
import { callsOpen, carryOut, type Decision, isIn, notOwner, paused, repeated, wrongState } from './decision.ts'
import type { NewEvent } from './events.ts'
import type { Job } from './job.ts'

export const claim = (command: CommandOf<'ClaimJob'>, job: Job): Decision => {
  if (job.state !== 'queued') return wrongState(job, command)
  if (job.spec.startAfter !== null && Date.parse(command.at) < Date.parse(job.spec.startAfter)) {
    return reject('not_due', `job ${job.jobId} is not to start before ${job.spec.startAfter}`, {
      jobId: job.jobId,
      startAfter: job.spec.startAfter,
    })
  }
  const leaseExpiresAt = new Date(Date.parse(command.at) + command.leaseMs).toISOString()
  return [
    {
      type: 'JobLeased',
      data: { token: job.lastToken + 1, owner: command.owner, leaseMs: command.leaseMs, leaseExpiresAt },
    },
  ]
}

/** Acts on what people asked for while the job was only leased: nothing is running yet, so nothing is flushed. */
export const start = (command: CommandOf<'StartJob'>, job: Job): Decision => {
  const refused = notOwner(job, command)
  if (refused !== null) return refused
  if (job.state !== 'leased') return wrongState(job, command)
  const started: NewEvent = { type: 'JobStarted', data: {} }
  if (job.cancellationRequestedAt !== null) {
    return [started, { type: 'JobCancelling', data: {} }, { type: 'JobCancelled', data: {} }]
  }
  if (job.pauseRequestedAt !== null) {
    return [started, { type: 'JobPausing', data: { reason: 'user' } }, ...paused(job, 'user')]
  }
  return [started]
}

export const renew = (command: CommandOf<'RenewLease'>, job: Job): Decision =>
  notOwner(job, command) ?? [
    { type: 'LeaseRenewed', data: { waitingFor: command.waitingFor, progress: command.progress } },
  ]

export const release = (command: CommandOf<'ReleaseLease'>, job: Job): Decision =>
  notOwner(job, command) ??
  callsOpen(job, command) ?? [
    { type: 'LeaseReleased', data: { reason: command.reason, progress: command.progress } },
    ...carryOut(job),
  ]

/**
 * Whoever sees that the owner is silent ends its lease. Every send it had open may have been answered and billed,
 * so each is held at its worst case in the same append.
 */
export const expire = (command: CommandOf<'ExpireLease'>, job: Job): Decision => {
  if (job.lease === null || job.lease.token !== command.token) return repeated
  if (job.lease.ownerRevision > command.ownerRevision) {
    return reject('not_due', `the owner of job ${job.jobId} has written since revision ${command.ownerRevision}`, {
      jobId: job.jobId,
      ownerRevision: job.lease.ownerRevision,
    })
  }
  const orphaned = Object.keys(job.open).map(
    (call): NewEvent => ({ type: 'ProviderCallOrphaned', data: { call: Number(call) } }),
  )
  const requested = carryOut(job)
  return [
    { type: 'LeaseExpired', data: { token: command.token, reason: command.reason } },
    ...orphaned,
    ...(requested.length === 0 && isIn(job, 'leased', 'running') ? killsItsWorkers(job) : requested),
  ]
}

const killsItsWorkers = (job: Job): readonly NewEvent[] => {
  const lost = job.lostLeaseCount + 1
  if (lost < job.spec.maxLostLeases) return []
  return [
    {
      type: 'JobFailed',
      data: {
        errorCode: 'worker_lost',
        errorKind: 'worker_lost',
        errorSummary: `${lost} workers in a row were lost with this job before any progress`,
      },
    },
  ]
}

export const elapse = (command: CommandOf<'ElapseBackoff'>, job: Job): Decision => {
  if (job.state !== 'retry_wait' || job.retry === null) return repeated
  if (job.retry.revision !== command.retryRevision) {
    return reject('not_due', `job ${job.jobId} waits since revision ${job.retry.revision}, not ${command.retryRevision}`, {
      jobId: job.jobId,
      retryRevision: job.retry.revision,
    })
  }
  return [{ type: 'BackoffElapsed', data: {} }]
}
