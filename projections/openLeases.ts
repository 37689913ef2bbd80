import { z } from 'zod'
import { JobId } from '../domain/ids.ts'
import type { EventType } from '../domain/job/events.ts'
import { defineProjection, type LogEvent } from './projection.ts'

/** A job that somebody owns, and the last sign of life of its owner. */
export const OpenLease = z.strictObject({
  jobId: JobId,
  token: z.int().positive(),
  owner: z.string(),
  leaseMs: z.int().positive(),
  /** Of the owner's last event: its lease runs from when an observer has read that one. */
  ownerRevision: z.int().nonnegative(),
  /** Of the owner's last event. */
  position: z.string(),
})
export type OpenLease = z.infer<typeof OpenLease>

/** The one list of this view, in order of job id. */
export const allOpenLeases = 'all'

const endsOwnership: ReadonlySet<EventType | 'Unknown'> = new Set([
  'LeaseExpired',
  'LeaseReleased',
  'RetryScheduled',
  'JobPaused',
  'JobCancelled',
  'JobSucceeded',
  'JobFailed',
  // Whoever may end this lease is a newer program: this one cannot write to the job any more.
  'Unknown',
])

const tokenOf = (event: LogEvent): number | undefined =>
  event.type === 'Unknown' ? undefined : event.meta.leaseToken

export const openLeases = defineProjection<OpenLease>({
  name: 'openLeases',
  version: 1,
  schema: OpenLease,

  keyOf: (event) => (tokenOf(event) !== undefined || endsOwnership.has(event.type) ? event.jobId : null),

  project: (lease, event) => {
    const { jobId, position, revision: ownerRevision } = event
    if (event.type === 'JobLeased') {
      const { token, owner, leaseMs } = event.data
      return { jobId, token, owner, leaseMs, ownerRevision, position }
    }
    if (lease === null || endsOwnership.has(event.type)) return null
    return tokenOf(event) === lease.token ? { ...lease, ownerRevision, position } : lease
  },

  place: (lease) => ({ terms: [allOpenLeases], sort: lease.jobId }),
})
