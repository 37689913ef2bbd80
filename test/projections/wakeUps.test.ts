import { describe, expect, test } from 'vitest'
import { allBackoffs, allWakeUps, startingLater, wakeUps } from '../../projections/wakeUps.ts'
import { event, type GivenEvent, instant } from '../support/controls.ts'
import { jobIdOf, listed, logged, newer, projected } from './loggedJob.ts'

const waits = (...given: (GivenEvent | typeof newer)[]) => listed(wakeUps, logged(given), allWakeUps)
const submitted = event.JobSubmitted()
const deferred = event.JobSubmitted({ startAfter: instant(100) })
const retrying = [submitted, event.JobLeased(), event.JobStarted(), event.RetryScheduled({ retryAt: instant(9), delayMs: 5_000 })]

describe('a job waits', () => {
  test('for its backoff, from the event that says so', () => {
    expect(waits(...retrying)).toEqual([
      {
        jobId: jobIdOf(1),
        reason: 'backoff',
        type: null,
        revision: 3,
        delayMs: 5_000,
        recordedAt: instant(4),
        at: instant(9),
        waiting: true,
      },
    ])
  })

  test('for its start_after, from its submission', () => {
    expect(waits(deferred)).toMatchObject([
      { reason: 'start_after', type: 'batch', revision: 0, delayMs: 99_000, at: instant(100) },
    ])
  })

  test('for a start_after that lies in the past no time at all', () => {
    expect(waits(event.JobSubmitted({ startAfter: instant(-100) }))).toMatchObject([{ delayMs: 0 }])
  })

  test('again for its start_after when it is resumed before its first claim', () => {
    expect(waits(deferred, event.PauseRequested(), event.JobPaused())).toEqual([])
    expect(waits(deferred, event.PauseRequested(), event.JobPaused(), event.JobResumed())).toMatchObject([
      { reason: 'start_after', revision: 3, delayMs: 96_000, at: instant(100) },
    ])
  })

  test('in order of when it is due', () => {
    const events = [1, 2, 3].flatMap((job) =>
      logged([event.JobSubmitted({ startAfter: instant(1_000 - job) })], { job, from: job }),
    )
    expect(listed(wakeUps, events, allWakeUps).map((wait) => wait.jobId)).toEqual([3, 2, 1].map(jobIdOf))
  })
})

test('waits stand in a list of their own kind, so that nobody has to pass over what is not theirs', () => {
  const events = [
    ...logged(retrying, { job: 1 }),
    ...logged([deferred], { job: 2, from: 10 }),
    ...logged([event.JobSubmitted({ type: 'dataset', startAfter: instant(50) })], { job: 3, from: 11 }),
  ]
  const jobsIn = (term: string) => listed(wakeUps, events, term).map((wait) => wait.jobId)
  expect(jobsIn(allWakeUps)).toEqual([1, 3, 2].map(jobIdOf))
  expect(jobsIn(allBackoffs)).toEqual([1].map(jobIdOf))
  expect(jobsIn(startingLater('batch'))).toEqual([2].map(jobIdOf))
  expect(jobsIn(startingLater('dataset'))).toEqual([3].map(jobIdOf))
})

describe('a job does not wait', () => {
  test.each<[string, readonly (GivenEvent | typeof newer)[]]>([
    ['when it may start at once', [submitted]],
    ['once its backoff elapsed', [...retrying, event.BackoffElapsed()]],
    ['once its backoff elapsed and it was claimed', [...retrying, event.BackoffElapsed(), event.JobLeased({ token: 2 })]],
    ['when its backoff was paused', [...retrying, event.PauseRequested(), event.JobPaused()]],
    ['when its paused backoff was resumed', [...retrying, event.PauseRequested(), event.JobPaused(), event.JobResumed()]],
    ['when it was cancelled', [...retrying, event.CancellationRequested(), event.JobCancelled()]],
    ['once it was claimed', [deferred, event.JobLeased()]],
    ['for its start_after after its first claim', [deferred, event.JobLeased(), event.LeaseExpired()]],
    ['where this program is too old to write to it', [...retrying, newer]],
  ])('%s', (_, given) => {
    expect(waits(...given)).toEqual([])
    expect(projected(wakeUps, logged(given)).size).toBe(0)
  })
})
