import type { EventType } from './events.ts'
import type { JobState } from './job.ts'

type Transition = Readonly<Partial<Record<JobState | 'none', JobState>>>

/**
 * The state machine, one row an event: from which state it may happen, and to which it leads. An event that is
 * not here changes no state. `decide` never goes outside this table, and `legal` refuses a log that did.
 */
export const transitions: Readonly<Partial<Record<EventType, Transition>>> = {
  JobSubmitted: { none: 'queued' },
  JobLeased: { queued: 'leased' },
  JobStarted: { leased: 'running' },
  // A lease that ends while the job is flushing leaves nobody to flush: JobPaused or JobCancelled follows at once.
  LeaseExpired: { leased: 'queued', running: 'queued', pausing: 'pausing', cancelling: 'cancelling' },
  LeaseReleased: { leased: 'queued', running: 'queued', pausing: 'pausing', cancelling: 'cancelling' },
  RetryScheduled: { running: 'retry_wait' },
  BackoffElapsed: { retry_wait: 'queued' },
  JobRetried: { failed: 'queued' },
  JobPausing: { running: 'pausing' },
  JobPaused: { pausing: 'paused', queued: 'paused', retry_wait: 'paused' },
  // While a pause is only recorded, or being flushed, a resume is recorded too and changes no state yet.
  JobResumed: { paused: 'queued', leased: 'leased', running: 'running', pausing: 'pausing' },
  JobCancelling: { running: 'cancelling', pausing: 'cancelling' },
  JobCancelled: { cancelling: 'cancelled', queued: 'cancelled', retry_wait: 'cancelled', paused: 'cancelled' },
  JobSucceeded: { running: 'succeeded' },
  // From queued only behind a LeaseExpired in the same append: the job has killed one worker too many.
  JobFailed: { running: 'failed', queued: 'failed' },
}

/** Where the event leads from this state; null when it may not happen there. */
export const nextState = (state: JobState | 'none', type: EventType): JobState | null => {
  const transition = transitions[type]
  if (transition !== undefined) return transition[state] ?? null
  return state === 'none' ? null : state
}
