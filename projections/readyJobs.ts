import { z } from 'zod'
import { JobId } from '../domain/ids.ts'
import { Instant } from '../domain/job/events.ts'
import { jobStates } from '../domain/job/job.ts'
import { nextState, transitions } from '../domain/job/transitions.ts'
import { defineProjection } from './projection.ts'

/**
 * A job that may be claimed now, or one that may become so: such documents stand in no list. They are kept because
 * the events that make a job ready again (LeaseExpired, JobResumed, …) say neither its type nor its priority.
 */
export const ReadyJob = z.strictObject({
  jobId: JobId,
  type: z.string(),
  priority: z.int(),
  startAfter: Instant.nullable(),
  state: z.enum(jobStates),
  /** From the first claim on, `startAfter` has passed. */
  claimed: z.boolean(),
  /** True when the job has an event newer than this program: it cannot be written to, so nobody may try. */
  unknownEvents: z.boolean(),
  /** Of the event that made the job ready. */
  position: z.string(),
  /** Of the event that made the job ready. */
  revision: z.int().nonnegative(),
})
export type ReadyJob = z.infer<typeof ReadyJob>

/** The list of what a process that runs this type of job may claim: in the order in which it should. */
export const readyJobsOfType = (type: string): string => `type:${type}`

const priorityMax = 1_000_000

/** Higher priority first, then who became ready first; the job id breaks ties. */
const claimOrder = (job: ReadyJob): string =>
  `${String(priorityMax - job.priority).padStart(7, '0')}|${job.position}`

// Whether a start_after has come no fold can know, so such a job is found in wakeUps until its first claim.
const isReady = (job: ReadyJob): boolean =>
  job.state === 'queued' && !job.unknownEvents && (job.startAfter === null || job.claimed)

export const readyJobs = defineProjection<ReadyJob>({
  name: 'readyJobs',
  version: 1,
  schema: ReadyJob,

  keyOf: (event) =>
    event.type === 'Unknown' || transitions[event.type] !== undefined ? event.jobId : null,

  project: (job, event) => {
    const { position, revision } = event
    if (event.type === 'JobSubmitted') {
      return {
        jobId: event.jobId,
        type: event.data.type,
        priority: event.data.priority,
        startAfter: event.data.startAfter,
        state: 'queued',
        claimed: false,
        unknownEvents: false,
        position,
        revision,
      }
    }
    if (job === null) return null
    if (event.type === 'Unknown') return { ...job, unknownEvents: true }
    const state = nextState(job.state, event.type) ?? job.state
    if (state === 'succeeded' || state === 'cancelled') return null
    const becameReady = state === 'queued' && job.state !== 'queued'
    return {
      ...job,
      state,
      claimed: job.claimed || event.type === 'JobLeased',
      position: becameReady ? position : job.position,
      revision: becameReady ? revision : job.revision,
    }
  },

  place: (job) => ({ terms: isReady(job) ? [readyJobsOfType(job.type)] : [], sort: claimOrder(job) }),
})
