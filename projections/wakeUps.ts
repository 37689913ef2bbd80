import { z } from 'zod'
import { JobId } from '../domain/ids.ts'
import { type EventData, Instant, type JobEvent } from '../domain/job/events.ts'
import { defineProjection } from './projection.ts'

/** A job that waits for time to pass. */
export const WakeUp = z.strictObject({
  jobId: JobId,
  reason: z.enum(['backoff', 'start_after']),
  /** The job's type, for a `start_after`: nobody but who can run it has anything to do when it is due. */
  type: z.string().nullable(),
  /** Of the event that began the wait. */
  revision: z.int().nonnegative(),
  /** How long the wait is, from the event that began it. */
  delayMs: z.int().nonnegative(),
  /** When the wait began, by its writer's clock. */
  recordedAt: Instant,
  /** When the wait is over, by its writer's clock. */
  at: Instant,
  /** False while a job that was never claimed is paused before its `start_after`. */
  waiting: z.boolean(),
})
export type WakeUp = z.infer<typeof WakeUp>

/** Every wait, the first to be over first. */
export const allWakeUps = 'all'

/** Waits for a backoff, the first to be over first. Whoever sees that one is over may say so. */
export const allBackoffs = 'backoff'

/** Jobs of this type that wait for their `start_after`, the first to be due first. */
export const startingLater = (type: string): string => `start_after|type:${type}`

const backoff = (event: Extract<JobEvent, { type: 'RetryScheduled' }>): WakeUp => ({
  jobId: event.jobId,
  reason: 'backoff',
  type: null,
  revision: event.revision,
  delayMs: event.data.delayMs,
  recordedAt: event.recordedAt,
  at: event.data.retryAt,
  waiting: true,
})

const startAfter = (event: JobEvent, at: string, type: string | null): WakeUp => ({
  jobId: event.jobId,
  reason: 'start_after',
  type,
  revision: event.revision,
  delayMs: Math.max(0, Date.parse(at) - Date.parse(event.recordedAt)),
  recordedAt: event.recordedAt,
  at,
  waiting: true,
})

const submitted = (event: JobEvent, spec: EventData<'JobSubmitted'>): WakeUp | null =>
  spec.startAfter === null ? null : startAfter(event, spec.startAfter, spec.type)

const ownList = ({ type }: WakeUp): string => (type === null ? allBackoffs : startingLater(type))

export const wakeUps = defineProjection<WakeUp>({
  name: 'wakeUps',
  version: 1,
  schema: WakeUp,

  keyOf: (event) => {
    switch (event.type) {
      case 'JobSubmitted':
        return event.data.startAfter === null ? null : event.jobId
      case 'RetryScheduled':
      case 'BackoffElapsed':
      case 'JobLeased':
      case 'JobPaused':
      case 'JobResumed':
      case 'JobCancelled':
      case 'Unknown':
        return event.jobId
      default:
        return null
    }
  },

  project: (wait, event) => {
    switch (event.type) {
      case 'JobSubmitted':
        return submitted(event, event.data)
      case 'RetryScheduled':
        return backoff(event)
      case 'JobPaused':
        return wait?.reason === 'start_after' ? { ...wait, waiting: false } : null
      case 'JobResumed':
        return wait?.reason === 'start_after' ? startAfter(event, wait.at, wait.type) : wait
      default:
        return null
    }
  },

  place: (wait) => ({ terms: wait.waiting ? [allWakeUps, ownList(wait)] : [], sort: wait.at }),
})
