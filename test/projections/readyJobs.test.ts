import { describe, expect, test } from 'vitest'
import { readyJobs, readyJobsOfType } from '../../projections/readyJobs.ts'
import { event, type GivenEvent, instant } from '../support/controls.ts'
import { jobIdOf, listed, logged, newer, projected } from './loggedJob.ts'

const ready = (events: Parameters<typeof listed>[1], type = 'batch') =>
  listed(readyJobs, events, readyJobsOfType(type))
const isReadyAfter = (...given: (GivenEvent | typeof newer)[]): boolean => ready(logged(given)).length === 1

const submitted = event.JobSubmitted()
const working = [submitted, event.JobLeased(), event.JobStarted()]
const waiting = [...working, event.RetryScheduled()]
const deferred = event.JobSubmitted({ startAfter: instant(100) })

describe('a job is ready', () => {
  test.each<[string, readonly GivenEvent[]]>([
    ['when it was submitted', [submitted]],
    ['when its lease expired before it started', [submitted, event.JobLeased(), event.LeaseExpired()]],
    ['when its lease expired at work', [...working, event.LeaseExpired()]],
    ['when its owner gave it back', [...working, event.LeaseReleased()]],
    ['when its backoff elapsed', [...waiting, event.BackoffElapsed()]],
    ['when it was resumed', [submitted, event.PauseRequested(), event.JobPaused(), event.JobResumed()]],
    [
      'when it was resumed while pausing',
      [...working, event.PauseRequested(), event.JobPausing(), event.JobResumed(), event.JobPaused(), event.JobResumed()],
    ],
    ['when it was retried', [...working, event.JobFailed(), event.JobRetried()]],
    ['when its start_after came and its first owner was lost', [deferred, event.JobLeased(), event.LeaseExpired()]],
  ])('%s', (_, given) => {
    expect(isReadyAfter(...given)).toBe(true)
  })
})

describe('a job is not ready', () => {
  test.each<[string, readonly (GivenEvent | typeof newer)[]]>([
    ['while it is leased', [submitted, event.JobLeased()]],
    ['while it runs', working],
    ['while it waits for a retry', waiting],
    ['while it is paused', [submitted, event.PauseRequested(), event.JobPaused()]],
    ['when its lost lease carried out a pause', [...working, event.PauseRequested(), event.LeaseExpired(), event.JobPaused()]],
    ['when it has killed too many workers', [...working, event.LeaseExpired(), event.JobFailed()]],
    ['before its start_after, of which no fold knows when it comes', [deferred]],
    ['when it has an event newer than this program', [submitted, newer]],
    ['when it failed', [...working, event.JobFailed()]],
  ])('%s', (_, given) => {
    expect(isReadyAfter(...given)).toBe(false)
  })
})

test('a job that succeeded or was cancelled leaves no document', () => {
  expect(projected(readyJobs, logged([...working, event.JobSucceeded()])).size).toBe(0)
  expect(projected(readyJobs, logged([submitted, event.CancellationRequested(), event.JobCancelled()])).size).toBe(0)
})

test('ready jobs stand in order of priority, then of becoming ready', () => {
  const events = [
    ...logged([event.JobSubmitted({ priority: -5 })], { job: 1, from: 1 }),
    ...logged([event.JobSubmitted({ priority: 5 })], { job: 2, from: 2 }),
    ...logged([submitted, event.JobLeased(), event.LeaseExpired()], { job: 3, from: 3 }),
    ...logged([submitted], { job: 4, from: 4 }),
    ...logged([event.JobSubmitted({ priority: 1_000_000 })], { job: 5, from: 6 }),
    ...logged([event.JobSubmitted({ priority: -1_000_000 })], { job: 6, from: 7 }),
    ...logged([event.JobSubmitted({ type: 'dataset' })], { job: 7, from: 8 }),
  ]
  expect(ready(events).map((job) => job.jobId)).toEqual([5, 2, 4, 3, 1, 6].map(jobIdOf))
  expect(ready(events, 'dataset').map((job) => job.jobId)).toEqual([jobIdOf(7)])
})

test('the position and revision are those of the event that made the job ready', () => {
  const events = logged([submitted, event.JobLeased(), event.LeaseExpired(), event.BudgetRaised()])
  expect(ready(events)).toMatchObject([{ revision: 2, position: events[2]?.position }])
})

test('events that change no state belong to no document', () => {
  const silent = [event.ProviderCallReserved(), event.ProviderCallSettled(), event.LeaseRenewed(), event.JobLogged()]
  expect(logged([...working, ...silent]).slice(3).map((each) => readyJobs.keyOf(each))).toEqual([null, null, null, null])
})
