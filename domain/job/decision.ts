import { type Rejection, reject } from '../rejection.ts'
import type { Command, OwnersCommand } from './commands.ts'
import type { EventData, NewEvent, Progress } from './events.ts'
import type { Job, JobState } from './job.ts'

/** What a command brings about: events (none when it is a repeat), or a refusal. */
export type Decision = readonly NewEvent[] | Rejection

export const repeated: readonly NewEvent[] = []

/** What people asked for, in their words. */
const asked: Readonly<Partial<Record<Command['type'], string>>> = {
  PauseJob: 'it cannot be paused',
  ResumeJob: 'it cannot be resumed',
  CancelJob: 'it cannot be cancelled',
  RetryJob: 'it cannot be retried',
  RaiseBudget: 'its limits cannot be raised',
}

export const wrongState = (job: Job, command: Command): Rejection =>
  reject('job_state', `job ${job.jobId} is ${job.state}: ${asked[command.type] ?? `${command.type} is not possible`}`, {
    jobId: job.jobId,
    state: job.state,
    command: command.type,
  })

/** The refusal of whoever does not own the job; null for its owner. */
export const notOwner = (job: Job, command: OwnersCommand): Rejection | null =>
  job.lease?.token === command.token
    ? null
    : reject('lease_lost', `job ${job.jobId} is not owned with token ${command.token} any more`, {
        jobId: job.jobId,
        token: command.token,
        lastToken: job.lastToken,
        state: job.state,
      })

/** Ownership ends only when no send is open. */
export const callsOpen = (job: Job, command: Command): Rejection | null => {
  const open = Object.keys(job.open)
  return open.length === 0
    ? null
    : reject('calls_open', `job ${job.jobId} has ${open.length} open calls: ${command.type} is not possible`, {
        jobId: job.jobId,
        open: open.map(Number),
      })
}

export const isIn = (job: Job, ...states: readonly JobState[]): boolean => states.includes(job.state)

/** A resume that came while the job was pausing follows at once. */
export const paused = (
  job: Job,
  reason: EventData<'JobPaused'>['reason'],
  progress?: Progress,
): readonly NewEvent[] => [
  { type: 'JobPaused', data: { reason, progress } },
  ...(job.resumeRequested ? [{ type: 'JobResumed' as const, data: {} }] : []),
]

/** What people asked for meanwhile, carried out by whatever append ends ownership. A cancel comes first. */
export const carryOut = (job: Job): readonly NewEvent[] => {
  if (job.cancellationRequestedAt !== null) {
    return job.state === 'pausing'
      ? [
          { type: 'JobCancelling', data: {} },
          { type: 'JobCancelled', data: {} },
        ]
      : [{ type: 'JobCancelled', data: {} }]
  }
  if (job.state === 'pausing') return paused(job, job.pauseReason ?? 'user')
  if (job.pauseRequestedAt !== null) return paused(job, 'user')
  return []
}
