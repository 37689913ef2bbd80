import { describe, expect, test } from 'vitest'
import { command, event, instant, spec } from '../support/controls.ts'
import { given } from '../support/given.ts'

const queued = [event.JobSubmitted()]
const leased = [...queued, event.JobLeased()]
const running = [...leased, event.JobStarted()]
const waiting = [...running, event.RetryScheduled()]
const pausing = [...running, event.PauseRequested(), event.JobPausing()]
const cancelling = [...running, event.CancellationRequested(), event.JobCancelling()]
const open = [...running, event.ProviderCallReserved(), event.ProviderCallReserved({ call: 2, callKey: 'key-2' })]
const lostOnce = [event.LeaseExpired(), event.JobLeased({ token: 2 })]

describe('claiming', () => {
  test('leases a queued job until the time asked for', () => {
    given(...queued)
      .when(command.ClaimJob({ at: instant(100), leaseMs: 30_500 }))
      .thenHappens(event.JobLeased({ leaseMs: 30_500, leaseExpiresAt: '2026-01-01T00:02:10.500Z' }))
  })

  test('raises the token by one, so that the owner before is fenced off', () => {
    given(...leased, event.LeaseExpired())
      .when(command.ClaimJob({ at: instant(0), owner: 'worker-b' }))
      .thenHappens(event.JobLeased({ token: 2, owner: 'worker-b' }))
  })

  test('before the job is to start is refused', () => {
    const later = [event.JobSubmitted(spec({ startAfter: instant(500) }))]
    given(...later)
      .when(command.ClaimJob({ at: instant(499) }))
      .thenRejected('not_due', { startAfter: instant(500) })
    given(...later)
      .when(command.ClaimJob({ at: instant(500) }))
      .thenHappens(event.JobLeased({ leaseExpiresAt: instant(560) }))
  })

  test.each([
    ['leased', leased],
    ['running', running],
    ['retry_wait', waiting],
    ['pausing', pausing],
    ['paused', [...pausing, event.JobPaused()]],
    ['cancelling', cancelling],
    ['cancelled', [...cancelling, event.JobCancelled()]],
    ['failed', [...running, event.JobFailed()]],
  ])('a job that is %s is refused', (state, history) => {
    given(...history)
      .when(command.ClaimJob())
      .thenRejected('job_state', { state })
  })
})

describe('starting', () => {
  test('counts an attempt', () => {
    const { job } = given(...leased)
      .when(command.StartJob())
      .thenHappens(event.JobStarted())
    expect(job).toMatchObject({ state: 'running', attemptCount: 1 })
  })

  test('acts on a pause that was recorded while the job was leased, and counts no attempt', () => {
    const { job } = given(...leased, event.PauseRequested())
      .when(command.StartJob())
      .thenHappens(event.JobStarted(), event.JobPausing(), event.JobPaused())
    expect(job).toMatchObject({ state: 'paused', attemptCount: 0, lease: null })
  })

  test('acts on a cancel that was recorded while the job was leased, also when a pause was too', () => {
    given(...leased, event.CancellationRequested())
      .when(command.StartJob())
      .thenHappens(event.JobStarted(), event.JobCancelling(), event.JobCancelled())
    given(...leased, event.PauseRequested(), event.CancellationRequested())
      .when(command.StartJob())
      .thenHappens(event.JobStarted(), event.JobCancelling(), event.JobCancelled())
  })

  test('goes on as if nothing had been asked when the pause was taken back', () => {
    given(...leased, event.PauseRequested(), event.JobResumed())
      .when(command.StartJob())
      .thenHappens(event.JobStarted())
  })

  test('twice is refused', () => {
    given(...running)
      .when(command.StartJob())
      .thenRejected('job_state', { state: 'running' })
  })

  test('with a stale token is refused', () => {
    given(...leased, ...lostOnce)
      .when(command.StartJob({ token: 1 }))
      .thenRejected('lease_lost', { token: 1, lastToken: 2 })
  })
})

describe('renewing a lease', () => {
  test('says what the owner waits for, and its next work takes that back', () => {
    const waitingFor = { reason: 'rate_limit', until: instant(2_000) }
    const { job } = given(...running)
      .when(command.RenewLease({ waitingFor }))
      .thenHappens(event.LeaseRenewed({ waitingFor }))
    expect(job).toMatchObject({ waitingFor, lease: { heartbeatAt: instant(1_000), expiresAt: instant(1_060) } })
    expect(
      given(...running, event.LeaseRenewed({ waitingFor }), event.ProviderCallReserved()).job?.waitingFor,
    ).toBeNull()
  })

  test('by anybody but the owner is refused', () => {
    given(...queued)
      .when(command.RenewLease())
      .thenRejected('lease_lost')
    given(...leased, ...lostOnce)
      .when(command.RenewLease({ token: 1 }))
      .thenRejected('lease_lost')
  })

  test('is not needed where the owner writes anything else: its every event is a heartbeat', () => {
    const { job } = given(...running, event.JobLogged())
    expect(job?.lease).toMatchObject({ ownerRevision: 3, heartbeatAt: instant(3), expiresAt: instant(63) })
  })

  test('is not done by what others write', () => {
    const { job } = given(...running, event.PauseRequested(), event.BudgetRaised())
    expect(job?.lease).toMatchObject({ ownerRevision: 2, heartbeatAt: instant(2) })
  })
})

describe('releasing a lease', () => {
  test.each([
    ['leased', leased],
    ['running', running],
  ])('gives a %s job back and counts no attempt and no lost lease', (_state, history) => {
    const { job } = given(...history)
      .when(command.ReleaseLease())
      .thenHappens(event.LeaseReleased())
    expect(job).toMatchObject({ state: 'queued', attemptCount: 0, lostLeaseCount: 0, lease: null })
  })

  test('carries out a recorded pause or cancel, the cancel first', () => {
    given(...running, event.PauseRequested())
      .when(command.ReleaseLease())
      .thenHappens(event.LeaseReleased(), event.JobPaused())
    given(...leased, event.PauseRequested(), event.CancellationRequested())
      .when(command.ReleaseLease())
      .thenHappens(event.LeaseReleased(), event.JobCancelled())
  })

  test('ends a flush that nobody is left to finish', () => {
    given(...pausing)
      .when(command.ReleaseLease())
      .thenHappens(event.LeaseReleased(), event.JobPaused())
    given(...cancelling)
      .when(command.ReleaseLease())
      .thenHappens(event.LeaseReleased(), event.JobCancelled())
    given(...pausing, event.CancellationRequested())
      .when(command.ReleaseLease())
      .thenHappens(event.LeaseReleased(), event.JobCancelling(), event.JobCancelled())
    given(...pausing, event.JobResumed())
      .when(command.ReleaseLease())
      .thenHappens(event.LeaseReleased(), event.JobPaused(), event.JobResumed())
  })

  test('is refused while calls are open', () => {
    given(...open)
      .when(command.ReleaseLease())
      .thenRejected('calls_open', { open: [1, 2] })
  })

  test('with a stale token is refused', () => {
    given(...leased, ...lostOnce)
      .when(command.ReleaseLease({ token: 1 }))
      .thenRejected('lease_lost')
  })
})

describe('expiring a lease', () => {
  test.each([
    ['leased', leased],
    ['running', running],
  ])('puts a %s job back in the queue and counts a lost lease, not an attempt', (_state, history) => {
    const { job } = given(...history)
      .when(command.ExpireLease())
      .thenHappens(event.LeaseExpired())
    expect(job).toMatchObject({ state: 'queued', attemptCount: 0, lostLeaseCount: 1, lease: null })
  })

  test('holds every open call at its worst case in the same append', () => {
    const { job } = given(...open)
      .when(command.ExpireLease({ reason: 'owner_gone' }))
      .thenHappens(
        event.LeaseExpired({ reason: 'owner_gone' }),
        event.ProviderCallOrphaned({ call: 1 }),
        event.ProviderCallOrphaned({ call: 2 }),
      )
    expect(job).toMatchObject({ open: {}, money: { reserved: { costUsd: '0' }, held: { costUsd: '0.2', calls: 2 } } })
    expect(Object.keys(job.holds)).toEqual(['1', '2'])
  })

  test('is refused when the owner has written since', () => {
    given(...running, event.JobLogged())
      .when(command.ExpireLease({ ownerRevision: 2 }))
      .thenRejected('not_due', { ownerRevision: 3 })
    given(...running, event.JobLogged())
      .when(command.ExpireLease({ ownerRevision: 3 }))
      .thenHappens(event.LeaseExpired())
  })

  test('is not put off by what others have written since', () => {
    given(...running, event.PauseRequested(), event.BudgetRaised())
      .when(command.ExpireLease({ ownerRevision: 2 }))
      .thenHappens(event.LeaseExpired(), event.JobPaused())
  })

  test('is quiet when that lease has ended already', () => {
    given(...leased, ...lostOnce)
      .when(command.ExpireLease({ token: 1 }))
      .thenNothing()
    given(...queued)
      .when(command.ExpireLease())
      .thenNothing()
    given(...waiting)
      .when(command.ExpireLease())
      .thenNothing()
  })

  test('carries out a recorded pause or cancel behind the held calls, the cancel first', () => {
    const held = [event.ProviderCallOrphaned({ call: 1 }), event.ProviderCallOrphaned({ call: 2 })]
    given(...open, event.PauseRequested())
      .when(command.ExpireLease())
      .thenHappens(event.LeaseExpired(), ...held, event.JobPaused())
    given(...open, event.PauseRequested(), event.CancellationRequested())
      .when(command.ExpireLease())
      .thenHappens(event.LeaseExpired(), ...held, event.JobCancelled())
  })

  test('ends a flush that nobody is left to finish', () => {
    given(...pausing)
      .when(command.ExpireLease())
      .thenHappens(event.LeaseExpired(), event.JobPaused())
    given(...cancelling)
      .when(command.ExpireLease())
      .thenHappens(event.LeaseExpired(), event.JobCancelled())
    given(...pausing, event.CancellationRequested())
      .when(command.ExpireLease())
      .thenHappens(event.LeaseExpired(), event.JobCancelling(), event.JobCancelled())
    given(...pausing, event.JobResumed())
      .when(command.ExpireLease())
      .thenHappens(event.LeaseExpired(), event.JobPaused(), event.JobResumed())
  })

  test('keeps the reason for which the job was pausing', () => {
    const { job } = given(...running, event.BudgetExhausted(), event.JobPausing({ reason: 'budget_exhausted' }))
      .when(command.ExpireLease())
      .thenHappens(event.LeaseExpired(), event.JobPaused({ reason: 'budget_exhausted' }))
    expect(job).toMatchObject({ pauseReason: 'budget_exhausted', exhausted: { limit: 'maximumCalls' } })
  })
})

describe('a job that loses its workers', () => {
  const onceLeft = [
    ...queued,
    event.JobLeased(),
    ...lostOnce,
    event.LeaseExpired({ token: 2 }),
    event.JobLeased({ token: 3 }),
  ]
  const workerLost = event.JobFailed({
    errorCode: 'worker_lost',
    errorKind: 'worker_lost',
    errorSummary: '3 workers in a row were lost with this job before any progress',
  })

  test.each([
    ['leased', onceLeft],
    ['running', [...onceLeft, event.JobStarted()]],
  ])('fails when maxLostLeases are lost in a row without progress, while it is %s', (_state, history) => {
    given(...history)
      .when(command.ExpireLease({ token: 3 }))
      .thenHappens(event.LeaseExpired({ token: 3 }), workerLost)
  })

  test('fails with its open calls held', () => {
    const { job } = given(...onceLeft, event.JobStarted(), event.ProviderCallReserved())
      .when(command.ExpireLease({ token: 3 }))
      .thenHappens(event.LeaseExpired({ token: 3 }), event.ProviderCallOrphaned(), workerLost)
    expect(job).toMatchObject({ state: 'failed', money: { held: { calls: 1 } } })
  })

  test.each([
    ['a checkpoint', event.CheckpointRecorded()],
    ['a completed stage', event.StageCompleted()],
  ])('does not fail when %s showed progress in between', (_what, progress) => {
    const { job } = given(...onceLeft, event.JobStarted(), progress)
      .when(command.ExpireLease({ token: 3 }))
      .thenHappens(event.LeaseExpired({ token: 3 }))
    expect(job).toMatchObject({ state: 'queued', lostLeaseCount: 1 })
  })

  test('does not fail when a settled call showed progress in between', () => {
    given(...onceLeft, event.JobStarted(), event.ProviderCallReserved(), event.ProviderCallSettled())
      .when(command.ExpireLease({ token: 3 }))
      .thenHappens(event.LeaseExpired({ token: 3 }))
  })

  test('fails although it was renewed, logged and reserved calls: that is no progress', () => {
    const idle = [event.LeaseRenewed(), event.JobLogged(), event.ProviderCallReserved()]
    given(...onceLeft, event.JobStarted(), ...idle)
      .when(command.ExpireLease({ token: 3 }))
      .thenHappens(event.LeaseExpired({ token: 3 }), event.ProviderCallOrphaned(), workerLost)
  })

  test('is cancelled or paused rather than failed when people asked for that', () => {
    given(...onceLeft, event.CancellationRequested())
      .when(command.ExpireLease({ token: 3 }))
      .thenHappens(event.LeaseExpired({ token: 3 }), event.JobCancelled())
    given(...onceLeft, event.PauseRequested())
      .when(command.ExpireLease({ token: 3 }))
      .thenHappens(event.LeaseExpired({ token: 3 }), event.JobPaused())
  })

  test('starts its count anew after an explicit retry', () => {
    const { job } = given(...onceLeft, event.LeaseExpired({ token: 3 }), workerLost, event.JobRetried())
    expect(job).toMatchObject({ state: 'queued', lostLeaseCount: 0 })
  })
})

describe('ending a backoff', () => {
  test('puts the job back in the queue', () => {
    const { job } = given(...waiting)
      .when(command.ElapseBackoff({ retryRevision: 3 }))
      .thenHappens(event.BackoffElapsed())
    expect(job).toMatchObject({ state: 'queued', retry: null, waitingFor: null, attemptCount: 1 })
  })

  test('that an observer saw for another wait is refused', () => {
    given(...waiting)
      .when(command.ElapseBackoff({ retryRevision: 2 }))
      .thenRejected('not_due', { retryRevision: 3 })
  })

  test('is quiet when the job does not wait any more', () => {
    given(...waiting, event.BackoffElapsed())
      .when(command.ElapseBackoff())
      .thenNothing()
    given(...running)
      .when(command.ElapseBackoff())
      .thenNothing()
    given(...waiting, event.PauseRequested(), event.JobPaused())
      .when(command.ElapseBackoff())
      .thenNothing()
  })
})
