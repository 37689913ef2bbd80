import { describe, expect, test } from 'vitest'
import { amounts, command, event, instant, milliUsd, sha, spec } from '../support/controls.ts'
import { given } from '../support/given.ts'

const queued = [event.JobSubmitted()]
const leased = [...queued, event.JobLeased()]
const running = [...leased, event.JobStarted()]
const pausing = [...running, event.PauseRequested(), event.JobPausing()]
const cancelRequested = [...running, event.CancellationRequested()]
const cancelling = [...cancelRequested, event.JobCancelling()]
const open = [...running, event.ProviderCallReserved()]
const allDone = [...running, event.StageCompleted(), event.StageCompleted({ stage: 'generate' })]
const fenced = [...running, event.LeaseExpired(), event.JobLeased({ token: 2 }), event.JobStarted()]

describe('recording a checkpoint', () => {
  test.each([
    ['running', running],
    ['pausing', pausing],
    ['cancelling', cancelling],
  ])('keeps what is done inside the stage at work while the job is %s', (_state, history) => {
    const progress = { done: 1, total: 3, unit: 'lines' }
    const { job } = given(...history)
      .when(command.RecordCheckpoint({ progress }))
      .thenHappens(event.CheckpointRecorded({ progress }))
    expect(job).toMatchObject({ checkpoint: { stage: 'intake', key: 'line-1', at: instant(1_000) }, progress })
  })

  test('is quiet when it was the last one', () => {
    given(...running, event.CheckpointRecorded())
      .when(command.RecordCheckpoint())
      .thenNothing()
  })

  test('of another stage than the one at work is refused', () => {
    given(...running)
      .when(command.RecordCheckpoint({ stage: 'generate' }))
      .thenRejected('wrong_stage', { stage: 'intake', given: 'generate' })
    given(...running, event.StageCompleted())
      .when(command.RecordCheckpoint({ stage: 'intake' }))
      .thenRejected('wrong_stage', { stage: 'generate' })
    given(...allDone)
      .when(command.RecordCheckpoint({ stage: 'generate' }))
      .thenRejected('wrong_stage', { stage: null })
  })

  test('before the start is refused', () => {
    given(...leased)
      .when(command.RecordCheckpoint())
      .thenRejected('job_state', { state: 'leased' })
  })

  test('with a stale token is refused', () => {
    given(...fenced)
      .when(command.RecordCheckpoint({ token: 1 }))
      .thenRejected('lease_lost')
  })
})

describe('completing a stage', () => {
  test('makes the next one the stage at work', () => {
    const { job } = given(...running)
      .when(command.CompleteStage())
      .thenHappens(event.StageCompleted())
    expect(job.stageIndex).toBe(1)
  })

  test('is quiet when it is complete already', () => {
    given(...running, event.StageCompleted())
      .when(command.CompleteStage({ stage: 'intake' }))
      .thenNothing()
    given(...allDone)
      .when(command.CompleteStage({ stage: 'intake' }))
      .thenNothing()
  })

  test('out of order is refused', () => {
    given(...running)
      .when(command.CompleteStage({ stage: 'generate' }))
      .thenRejected('wrong_stage')
    given(...running)
      .when(command.CompleteStage({ stage: 'nowhere' }))
      .thenRejected('wrong_stage')
  })

  test('is refused while calls are open', () => {
    given(...open)
      .when(command.CompleteStage())
      .thenRejected('calls_open', { open: [1] })
  })

  test('with a stale token is refused, also when the stage is complete', () => {
    given(...fenced, event.StageCompleted())
      .when(command.CompleteStage({ token: 1 }))
      .thenRejected('lease_lost')
  })
})

describe('invalidating a checkpoint', () => {
  test('reopens its stage and those after it', () => {
    const { job } = given(...allDone)
      .when(command.InvalidateCheckpoint({ stage: 'intake', sha256: sha('5'), reason: 'corrupt' }))
      .thenHappens(event.CheckpointInvalidated({ stage: 'intake', sha256: sha('5'), reason: 'corrupt' }))
    expect(job).toMatchObject({ stageIndex: 0, checkpoint: null, progress: null })
  })

  test('of a stage that the job has not reached, or does not have, is refused', () => {
    given(...running)
      .when(command.InvalidateCheckpoint({ stage: 'generate' }))
      .thenRejected('wrong_stage')
    given(...running)
      .when(command.InvalidateCheckpoint({ stage: 'nowhere' }))
      .thenRejected('wrong_stage')
  })

  test('before the start is refused', () => {
    given(...leased)
      .when(command.InvalidateCheckpoint())
      .thenRejected('job_state')
  })

  test('with a stale token is refused', () => {
    given(...fenced)
      .when(command.InvalidateCheckpoint({ token: 1 }))
      .thenRejected('lease_lost')
  })
})

describe('accepting examples', () => {
  test('counts them', () => {
    const { job } = given(...running)
      .when(command.AcceptExamples({ count: 4 }))
      .thenHappens(event.ExamplesAccepted({ count: 4 }))
    expect(job.money.spent.examples).toBe(4)
  })

  test('up to exactly the limit is allowed, and one more is refused', () => {
    given(...running, event.ExamplesAccepted({ count: 9 }))
      .when(command.AcceptExamples({ count: 1 }))
      .thenHappens(event.ExamplesAccepted({ count: 1 }))
    given(...running, event.ExamplesAccepted({ count: 9 }))
      .when(command.AcceptExamples({ count: 2 }))
      .thenRejected('budget_exhausted', { limit: 'maximumExamples', maximum: '10', needed: '11' })
  })

  test('that are paid for already goes on behind a bill above the worst case', () => {
    const billed = { costUsd: milliUsd(2_000), overrun: true as const }
    given(...running, event.ProviderCallReserved(), event.ProviderCallSettled(billed))
      .when(command.AcceptExamples({ count: 1 }))
      .thenHappens(event.ExamplesAccepted({ count: 1 }))
  })

  test('of another stage, before the start, or with a stale token is refused', () => {
    given(...running)
      .when(command.AcceptExamples({ stage: 'generate' }))
      .thenRejected('wrong_stage')
    given(...leased)
      .when(command.AcceptExamples())
      .thenRejected('job_state')
    given(...fenced)
      .when(command.AcceptExamples({ token: 1 }))
      .thenRejected('lease_lost')
  })
})

describe('logging', () => {
  test('is allowed to the owner alone, in every state in which there is one', () => {
    for (const history of [leased, running, pausing, cancelling]) {
      given(...history)
        .when(command.LogJob())
        .thenHappens(event.JobLogged())
    }
    given(...queued)
      .when(command.LogJob())
      .thenRejected('lease_lost')
    given(...fenced)
      .when(command.LogJob({ token: 1 }))
      .thenRejected('lease_lost')
  })
})

describe('pausing as the owner', () => {
  test('begins with what was asked for', () => {
    given(...running, event.PauseRequested())
      .when(command.BeginPause())
      .thenHappens(event.JobPausing())
  })

  test('for the budget tells the limit and what the next call needs', () => {
    const exhausted = { limit: 'maximumCostUsd', needs: amounts() }
    const { job } = given(...running)
      .when(command.BeginPause({ reason: 'budget_exhausted', exhausted }))
      .thenHappens(event.BudgetExhausted(exhausted), event.JobPausing({ reason: 'budget_exhausted' }))
    expect(job).toMatchObject({ state: 'pausing', pauseReason: 'budget_exhausted', exhausted })
  })

  test('is quiet when the job is pausing or cancelling already', () => {
    given(...pausing)
      .when(command.BeginPause())
      .thenNothing()
    given(...cancelling)
      .when(command.BeginPause())
      .thenNothing()
  })

  test('ends with the lease, the reason kept and no attempt counted', () => {
    const { job } = given(...running, event.JobPausing({ reason: 'overrun' }))
      .when(command.FinishPause())
      .thenHappens(event.JobPaused({ reason: 'overrun' }))
    expect(job).toMatchObject({ state: 'paused', attemptCount: 0, lease: null, pauseReason: 'overrun' })
  })

  test('does not end while calls are open', () => {
    given(...open, event.JobPausing())
      .when(command.FinishPause())
      .thenRejected('calls_open')
  })

  test('before the start, out of order or with a stale token is refused', () => {
    given(...leased)
      .when(command.BeginPause())
      .thenRejected('job_state')
    given(...running)
      .when(command.FinishPause())
      .thenRejected('job_state')
    given(...fenced)
      .when(command.BeginPause({ token: 1 }))
      .thenRejected('lease_lost')
    given(...fenced, event.JobPausing())
      .when(command.FinishPause({ token: 1 }))
      .thenRejected('lease_lost')
  })
})

describe('cancelling as the owner', () => {
  test('begins once it was asked for, also while the job is pausing', () => {
    given(...cancelRequested)
      .when(command.BeginCancel())
      .thenHappens(event.JobCancelling())
    given(...pausing, event.CancellationRequested())
      .when(command.BeginCancel())
      .thenHappens(event.JobCancelling())
  })

  test('is quiet when the job is cancelling already', () => {
    given(...cancelling)
      .when(command.BeginCancel())
      .thenNothing()
  })

  test('ends when no call is open', () => {
    given(...open, event.CancellationRequested(), event.JobCancelling())
      .when(command.FinishCancel())
      .thenRejected('calls_open')
    given(...cancelling)
      .when(command.FinishCancel())
      .thenHappens(event.JobCancelled())
  })

  test('that nobody asked for, out of order or with a stale token is refused', () => {
    given(...running)
      .when(command.BeginCancel())
      .thenRejected('job_state')
    given(...cancelRequested)
      .when(command.FinishCancel())
      .thenRejected('job_state')
    given(...leased, event.CancellationRequested())
      .when(command.BeginCancel())
      .thenRejected('job_state')
    given(...fenced, event.CancellationRequested())
      .when(command.BeginCancel({ token: 1 }))
      .thenRejected('lease_lost')
    given(...fenced, event.CancellationRequested(), event.JobCancelling())
      .when(command.FinishCancel({ token: 1 }))
      .thenRejected('lease_lost')
  })
})

describe('succeeding', () => {
  test('ends a job whose stages are all complete', () => {
    const { job } = given(...allDone)
      .when(command.SucceedJob())
      .thenHappens(event.JobSucceeded())
    expect(job).toMatchObject({ state: 'succeeded', lease: null, finishedAt: instant(1_000), output: { json: {} } })
  })

  test('is not stopped by a recorded pause, and leaves none behind', () => {
    const { job } = given(...allDone, event.PauseRequested())
      .when(command.SucceedJob())
      .thenHappens(event.JobSucceeded())
    expect(job.pauseRequestedAt).toBeNull()
  })

  test('is beaten by a recorded cancel', () => {
    given(...allDone, event.CancellationRequested())
      .when(command.SucceedJob())
      .thenHappens(event.JobCancelling(), event.JobCancelled())
    given(...allDone, event.CancellationRequested(), event.JobCancelling())
      .when(command.SucceedJob())
      .thenHappens(event.JobCancelled())
  })

  test('before the last stage is refused', () => {
    given(...running, event.StageCompleted())
      .when(command.SucceedJob())
      .thenRejected('job_state')
  })

  test('with open calls, while pausing or with a stale token is refused', () => {
    given(...open)
      .when(command.SucceedJob())
      .thenRejected('calls_open')
    given(...allDone, event.JobPausing())
      .when(command.SucceedJob())
      .thenRejected('job_state')
    given(...fenced)
      .when(command.SucceedJob({ token: 1 }))
      .thenRejected('lease_lost')
  })
})

const failure = {
  errorCode: 'timeout',
  errorSummary: 'no answer in time',
  errorKind: 'transient' as const,
  retryable: true,
}
const ended = { errorCode: failure.errorCode, errorSummary: failure.errorSummary }

describe('failing an attempt', () => {
  test('of a passing trouble schedules another with our own delay and the luck it was drawn with', () => {
    const { job } = given(...running)
      .when(command.FailAttempt({ luck: 0.5 }))
      .thenHappens(event.RetryScheduled({ ...ended, luck: 0.5, delayMs: 750, retryAt: '2026-01-01T00:16:40.750Z' }))
    expect(job).toMatchObject({
      state: 'retry_wait',
      attemptCount: 1,
      lease: null,
      error: { code: 'timeout', kind: 'transient' },
      retry: { delayMs: 750, revision: 3, reason: 'backoff' },
    })
  })

  test('waits longer each time', () => {
    const second = [
      ...running,
      event.RetryScheduled(),
      event.BackoffElapsed(),
      event.JobLeased({ token: 2 }),
      event.JobStarted(),
    ]
    given(...second)
      .when(command.FailAttempt({ token: 2, luck: 1 }))
      .thenHappens(event.RetryScheduled({ ...ended, luck: 1, delayMs: 2_000, retryAt: instant(1_002) }))
  })

  test('waits no less than the provider asked for', () => {
    const retryAfter = { raw: '30', ms: 30_000 }
    given(...running)
      .when(command.FailAttempt({ luck: 0.5, retryAfter }))
      .thenHappens(
        event.RetryScheduled({
          ...ended,
          luck: 0.5,
          delayMs: 37_500,
          delayReason: 'retry_after',
          retryAt: '2026-01-01T00:17:17.500Z',
          retryAfter,
        }),
      )
  })

  test('takes a wait that cannot be read for our own, never for "now"', () => {
    const retryAfter = { raw: 'soon', ms: null }
    given(...running)
      .when(command.FailAttempt({ luck: 1, retryAfter }))
      .thenHappens(event.RetryScheduled({ ...ended, luck: 1, delayMs: 1_000, retryAt: instant(1_001), retryAfter }))
  })

  test('with the last attempt fails the job', () => {
    const lastAttempt = [event.JobSubmitted(spec({ maxAttempts: 1 })), event.JobLeased(), event.JobStarted()]
    const { job } = given(...lastAttempt)
      .when(command.FailAttempt())
      .thenHappens(event.JobFailed({ ...ended, errorKind: 'transient' }))
    expect(job).toMatchObject({ state: 'failed', error: { code: 'timeout' }, finishedAt: instant(1_000) })
  })

  test.each([
    ['transient', false, 'retry_wait'],
    ['provider', true, 'retry_wait'],
    ['provider', false, 'failed'],
    ['policy_block', true, 'failed'],
    ['invalid_input', true, 'failed'],
    ['bug', true, 'failed'],
  ] as const)('by a %s trouble that calls itself retryable: %s leads to %s', (errorKind, retryable, state) => {
    const tried = command.FailAttempt({ failure: { ...failure, errorKind, retryable }, luck: 1 })
    const { job } = given(...running)
      .when(tried)
      .thenHappens(
        state === 'failed'
          ? event.JobFailed({ ...ended, errorKind })
          : event.RetryScheduled({ ...ended, errorKind, luck: 1, retryAt: instant(1_001) }),
      )
    expect(job.state).toBe(state)
  })

  test('carries out a recorded pause behind the scheduled retry, whose attempt stays counted', () => {
    const { job } = given(...running, event.PauseRequested())
      .when(command.FailAttempt({ luck: 1 }))
      .thenHappens(event.RetryScheduled({ ...ended, luck: 1, retryAt: instant(1_001) }), event.JobPaused())
    expect(job).toMatchObject({ state: 'paused', retry: null, attemptCount: 1 })
  })

  test('is beaten by a recorded cancel, and beats a recorded pause when it is final', () => {
    given(...cancelRequested)
      .when(command.FailAttempt())
      .thenHappens(event.JobCancelling(), event.JobCancelled())
    given(...cancelling)
      .when(command.FailAttempt())
      .thenHappens(event.JobCancelled())
    given(...running, event.PauseRequested())
      .when(command.FailAttempt({ failure: { ...failure, errorKind: 'bug' } }))
      .thenHappens(event.JobFailed({ ...ended, errorKind: 'bug' }))
  })

  test('with open calls, before the start, while pausing or with a stale token is refused', () => {
    given(...open)
      .when(command.FailAttempt())
      .thenRejected('calls_open')
    given(...leased)
      .when(command.FailAttempt())
      .thenRejected('job_state')
    given(...pausing)
      .when(command.FailAttempt())
      .thenRejected('job_state')
    given(...fenced)
      .when(command.FailAttempt({ token: 1 }))
      .thenRejected('lease_lost')
  })
})

describe('waiting out what a provider asked for', () => {
  const asked = event.RetryScheduled({
    ...ended,
    delayMs: 20_000,
    delayReason: 'retry_after',
    luck: 0.5,
    countsAsAttempt: false,
    retryAt: instant(1_020),
  })

  test('gives the job back without counting an attempt, even at the last one', () => {
    const lastAttempt = [event.JobSubmitted(spec({ maxAttempts: 1 })), event.JobLeased(), event.JobStarted()]
    const { job } = given(...lastAttempt)
      .when(command.WaitOut())
      .thenHappens(asked)
    expect(job).toMatchObject({
      state: 'retry_wait',
      attemptCount: 0,
      waitingFor: { reason: 'retry_after', until: instant(1_020) },
    })
  })

  test('carries out a recorded pause or cancel', () => {
    given(...running, event.PauseRequested())
      .when(command.WaitOut())
      .thenHappens(asked, event.JobPaused())
    given(...cancelRequested)
      .when(command.WaitOut())
      .thenHappens(event.JobCancelling(), event.JobCancelled())
  })

  test('with open calls, before the start or with a stale token is refused', () => {
    given(...open)
      .when(command.WaitOut())
      .thenRejected('calls_open')
    given(...leased)
      .when(command.WaitOut())
      .thenRejected('job_state')
    given(...fenced)
      .when(command.WaitOut({ token: 1 }))
      .thenRejected('lease_lost')
  })
})

describe('the attempt count', () => {
  const again = [event.JobLeased({ token: 2 }), event.JobStarted()]

  test.each([
    ['a failed attempt', [event.RetryScheduled(), event.BackoffElapsed()], 2],
    ['a pause', [event.JobPausing(), event.JobPaused(), event.JobResumed()], 1],
    ['a drain', [event.LeaseReleased()], 1],
    ['a wait the provider asked for', [event.RetryScheduled({ countsAsAttempt: false }), event.BackoffElapsed()], 1],
    ['a lost lease', [event.LeaseExpired()], 1],
    ['an explicit retry', [event.JobFailed(), event.JobRetried()], 1],
  ])('after %s and another start is as agreed', (_how, ending, attemptCount) => {
    expect(given(...running, ...ending, ...again).job?.attemptCount).toBe(attemptCount)
  })
})

describe('the duration of a job', () => {
  test('is the sum over its claims from the start to the last event of the owner', () => {
    const first = [
      event.JobSubmitted(),
      event.JobLeased(),
      event.JobStarted(),
      event.JobLogged(),
      event.PauseRequested(),
    ]
    expect(given(...first).job?.durationMs).toBe(1_000)
    const released = [...first, event.JobLogged(), event.LeaseReleased(), event.JobPaused()]
    expect(given(...released).job?.durationMs).toBe(4_000)
    const second = [...released, event.JobResumed(), event.JobLeased({ token: 2 }), event.JobStarted()]
    expect(given(...second).job?.durationMs).toBe(4_000)
    expect(given(...second, event.JobLogged(), event.LeaseExpired({ token: 2 })).job?.durationMs).toBe(5_000)
  })
})
