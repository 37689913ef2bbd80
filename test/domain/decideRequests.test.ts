import { describe, expect, test } from 'vitest'
import { again, amounts, command, event, limits, milliUsd, sha, spec } from '../support/controls.ts'
import { given } from '../support/given.ts'
import { jobAfter } from '../support/histories.ts'
import { decide } from '../../domain/job/decide.ts'

const queued = [event.JobSubmitted()]
const leased = [...queued, event.JobLeased()]
const running = [...leased, event.JobStarted()]
const waiting = [...running, event.RetryScheduled()]
const pausing = [...running, event.PauseRequested(), event.JobPausing()]
const paused = [...pausing, event.JobPaused()]
const cancelling = [...running, event.CancellationRequested(), event.JobCancelling()]
const cancelled = [...cancelling, event.JobCancelled()]
const failed = [...running, event.JobFailed()]
const succeeded = [
  ...running,
  event.StageCompleted(),
  event.StageCompleted({ stage: 'generate' }),
  event.JobSucceeded(),
]
const stoppedByBudget = (needs = amounts()) => [
  ...running,
  event.BudgetExhausted({ limit: 'maximumCalls', needs }),
  event.JobPausing({ reason: 'budget_exhausted' }),
]

describe('submitting', () => {
  test('makes a job of a new key', () => {
    given().when(command.SubmitJob()).thenHappens(event.JobSubmitted())
  })

  test.each([
    ['queued', queued],
    ['running', running],
    ['paused', paused],
    ['cancelled', cancelled],
    ['failed', failed],
    ['succeeded', succeeded],
  ])('is quiet about a job with the same configuration that is %s', (_state, history) => {
    given(...history)
      .when(command.SubmitJob({ spec: spec({ priority: 7, limits: limits({ maximumCalls: 1 }) }) }))
      .thenNothing()
  })

  test.each([
    ['queued', queued],
    ['running', running],
    ['cancelled', cancelled],
    ['failed', failed],
    ['succeeded', succeeded],
  ])('with another configuration is refused and names the job that is %s', (state, history) => {
    given(...history)
      .when(command.SubmitJob({ spec: spec({ inputConfigHash: sha('9') }) }))
      .thenRejected('idempotency_conflict', { state, idempotencyKey: 'the-key', inputConfigHash: sha('1') })
  })

  test('comes before every other command', () => {
    given().when(command.PauseJob()).thenRejected('job_not_found')
    given().when(command.ClaimJob()).thenRejected('job_not_found')
    given().when(command.StartJob()).thenRejected('job_not_found')
  })
})

describe('pausing', () => {
  test.each([
    ['queued', queued],
    ['waiting for a retry', waiting],
  ])('a job that is %s takes effect at once: nothing has to be flushed', (_state, history) => {
    given(...history)
      .when(command.PauseJob())
      .thenHappens(event.PauseRequested(), event.JobPaused())
  })

  test.each([
    ['leased', leased],
    ['running', running],
  ])('a job that is %s is recorded for its owner', (_state, history) => {
    given(...history)
      .when(command.PauseJob())
      .thenHappens(event.PauseRequested())
  })

  test.each([
    ['leased', [...leased, event.PauseRequested()]],
    ['running', [...running, event.PauseRequested()]],
    ['pausing', pausing],
    ['pausing for its budget', stoppedByBudget()],
    ['paused', paused],
  ])('is quiet when the job is %s and has been asked already', (_state, history) => {
    given(...history)
      .when(command.PauseJob())
      .thenNothing()
  })

  test('takes back a resume that came while the job was still pausing', () => {
    const { job } = given(...pausing, event.JobResumed())
      .when(command.PauseJob())
      .thenHappens(event.PauseRequested())
    expect(job).toMatchObject({ state: 'pausing', resumeRequested: false })
  })

  test.each([
    ['cancelling', cancelling],
    ['cancelled', cancelled],
    ['failed', failed],
    ['succeeded', succeeded],
  ])('a job that is %s is refused', (state, history) => {
    given(...history)
      .when(command.PauseJob())
      .thenRejected('job_state', { state, command: 'PauseJob' })
  })
})

describe('resuming', () => {
  test('puts a paused job back in the queue', () => {
    const { job } = given(...paused)
      .when(command.ResumeJob())
      .thenHappens(event.JobResumed())
    expect(job).toMatchObject({ state: 'queued', pauseReason: null, pauseRequestedAt: null, waitingFor: null })
  })

  test('a job that is still pausing is recorded, and follows JobPaused in the same append', () => {
    given(...pausing)
      .when(command.ResumeJob())
      .thenHappens(event.JobResumed())
    const { job } = given(...pausing, event.JobResumed())
      .when(command.FinishPause())
      .thenHappens(event.JobPaused(), event.JobResumed())
    expect(job).toMatchObject({ state: 'queued', resumeRequested: false, lease: null })
  })

  test.each([
    ['leased', leased],
    ['running', running],
  ])('takes back a pause that a %s job was only asked for', (state, history) => {
    const { job } = given(...history, event.PauseRequested())
      .when(command.ResumeJob())
      .thenHappens(event.JobResumed())
    expect(job).toMatchObject({ state, pauseRequestedAt: null })
  })

  test('is quiet when a resume already took effect', () => {
    given(...paused, event.JobResumed())
      .when(command.ResumeJob())
      .thenNothing()
    given(...pausing, event.JobResumed())
      .when(command.ResumeJob())
      .thenNothing()
  })

  test.each([
    ['queued', queued],
    ['leased', leased],
    ['running', running],
    ['retry_wait', waiting],
    ['cancelling', cancelling],
    ['cancelled', cancelled],
    ['failed', failed],
    ['succeeded', succeeded],
  ])('a job that is %s and was never paused is refused', (state, history) => {
    given(...history)
      .when(command.ResumeJob())
      .thenRejected('job_state', { state })
  })

  test('a job that failed while a pause was recorded is refused', () => {
    given(...running, event.PauseRequested(), event.JobFailed())
      .when(command.ResumeJob())
      .thenRejected('job_state', { state: 'failed' })
  })

  test('a job that is to be cancelled is refused', () => {
    given(...pausing, event.CancellationRequested())
      .when(command.ResumeJob())
      .thenRejected('job_state')
  })

  test('never drops new limits in silence: a job that goes on already is refused with them', () => {
    given(...paused, event.JobResumed())
      .when(command.ResumeJob({ limits: { maximumCalls: 99 } }))
      .thenRejected('job_state', { state: 'queued' })
  })

  test('that cannot afford the next call is refused and says what it needs', () => {
    given(...stoppedByBudget(amounts({ calls: 11 })), event.JobPaused({ reason: 'budget_exhausted' }))
      .when(command.ResumeJob())
      .thenRejected('budget_exhausted', { limit: 'maximumCalls', maximum: '10', needed: '11' })
  })

  test('with limits that are still too low is refused and says what it needs', () => {
    given(...stoppedByBudget(amounts({ calls: 13 })), event.JobPaused({ reason: 'budget_exhausted' }))
      .when(command.ResumeJob({ limits: { maximumCalls: 12 } }))
      .thenRejected('budget_exhausted', { limit: 'maximumCalls', maximum: '12', needed: '13' })
  })

  test('raises the limits in the same decision', () => {
    const { job } = given(...stoppedByBudget(amounts({ calls: 11 })), event.JobPaused({ reason: 'budget_exhausted' }))
      .when(command.ResumeJob({ limits: { maximumCalls: 11 } }))
      .thenHappens(event.BudgetRaised({ limits: { maximumCalls: 11 } }), event.JobResumed())
    expect(job).toMatchObject({ state: 'queued', exhausted: null, limits: { maximumCalls: 11 } })
  })

  test('lifts a limit altogether when null is given', () => {
    const { job } = given(...stoppedByBudget(amounts({ calls: 11 })), event.JobPaused({ reason: 'budget_exhausted' }))
      .when(command.ResumeJob({ limits: { maximumCalls: null } }))
      .thenHappens(event.BudgetRaised({ limits: { maximumCalls: null } }), event.JobResumed())
    expect(job.limits.maximumCalls).toBeNull()
  })

  test('with a lower limit is refused', () => {
    given(...paused)
      .when(command.ResumeJob({ limits: { maximumCalls: 9 } }))
      .thenRejected('limit_lower', { limit: 'maximumCalls', now: 10, given: 9 })
  })

  test('a job whose duration is used up is refused until it is given more', () => {
    const usedUp = [
      event.JobSubmitted(spec({ limits: limits({ maximumDurationSeconds: 2 }) })),
      event.JobLeased(),
      event.JobStarted(),
      event.JobLogged(),
      event.BudgetExhausted({ limit: 'maximumDurationSeconds', needs: amounts() }),
      event.JobPausing({ reason: 'budget_exhausted' }),
      event.JobPaused({ reason: 'budget_exhausted' }),
    ]
    given(...usedUp)
      .when(command.ResumeJob())
      .thenRejected('budget_exhausted', { limit: 'maximumDurationSeconds', maximum: 2, used: 4 })
    given(...usedUp)
      .when(command.ResumeJob({ limits: { maximumDurationSeconds: 4 } }))
      .thenRejected('budget_exhausted')
    given(...usedUp)
      .when(command.ResumeJob({ limits: { maximumDurationSeconds: 4.5 } }))
      .thenHappens(event.BudgetRaised({ limits: { maximumDurationSeconds: 4.5 } }), event.JobResumed())
  })

  test('a job that paused on an unknown outcome is refused until every held call is reconciled', () => {
    const held = [
      ...running,
      event.ProviderCallReserved(),
      event.ProviderCallFailed({ billed: 'unknown' }),
      event.JobPausing({ reason: 'unknown_outcome' }),
      event.JobPaused({ reason: 'unknown_outcome' }),
    ]
    given(...held)
      .when(command.ResumeJob())
      .thenRejected('unreconciled_calls', { calls: [1] })
    given(...held, event.ProviderCallReconciled())
      .when(command.ResumeJob())
      .thenHappens(event.JobResumed())
  })
})

describe('cancelling', () => {
  test.each([
    ['queued', queued],
    ['waiting for a retry', waiting],
    ['paused', paused],
  ])('a job that is %s takes effect at once', (_state, history) => {
    given(...history)
      .when(command.CancelJob())
      .thenHappens(event.CancellationRequested(), event.JobCancelled())
  })

  test.each([
    ['leased', leased],
    ['running', running],
    ['pausing', pausing],
  ])('a job that is %s is recorded for its owner', (_state, history) => {
    given(...history)
      .when(command.CancelJob())
      .thenHappens(event.CancellationRequested())
  })

  test('beats a pause that is being flushed, whichever way its owner ends it', () => {
    given(...pausing, event.CancellationRequested())
      .when(command.FinishPause())
      .thenHappens(event.JobCancelling(), event.JobCancelled())
    given(...pausing, event.CancellationRequested())
      .when(command.BeginCancel())
      .thenHappens(event.JobCancelling())
  })

  test('beats a resume that was recorded while the job was pausing', () => {
    given(...pausing, event.JobResumed(), event.CancellationRequested())
      .when(command.FinishPause())
      .thenHappens(event.JobCancelling(), event.JobCancelled())
  })

  test.each([
    ['running', [...running, event.CancellationRequested()]],
    ['cancelling', cancelling],
    ['cancelled', cancelled],
  ])('is quiet when the job is %s and has been asked already', (_state, history) => {
    given(...history)
      .when(command.CancelJob())
      .thenNothing()
  })

  test.each([
    ['failed', failed],
    ['succeeded', succeeded],
  ])('a job that is %s is refused', (state, history) => {
    given(...history)
      .when(command.CancelJob())
      .thenRejected('job_state', { state })
  })
})

describe('retrying', () => {
  test('puts a failed job back in the queue with all its attempts', () => {
    const { job } = given(...failed)
      .when(command.RetryJob())
      .thenHappens(event.JobRetried())
    expect(job).toMatchObject({ state: 'queued', attemptCount: 0, lostLeaseCount: 0, error: null, finishedAt: null })
  })

  test('forgets a pause that was recorded before the failure', () => {
    const { job } = given(...running, event.PauseRequested(), event.JobFailed())
      .when(command.RetryJob())
      .thenHappens(event.JobRetried())
    expect(job).toMatchObject({ state: 'queued', pauseRequestedAt: null })
  })

  test('a job that failed by policy is refused, even explicitly', () => {
    given(...running, event.JobFailed({ errorKind: 'policy_block', errorCode: 'content_filter' }))
      .when(command.RetryJob())
      .thenRejected('policy_block', { errorCode: 'content_filter' })
  })

  test('is quiet when a retry already took effect', () => {
    given(...failed, event.JobRetried())
      .when(command.RetryJob())
      .thenNothing()
    given(...failed, event.JobRetried(), event.JobLeased({ token: 2 }))
      .when(command.RetryJob())
      .thenNothing()
  })

  test.each([
    ['queued', queued],
    ['leased', leased],
    ['running', running],
    ['retry_wait', waiting],
    ['pausing', pausing],
    ['paused', paused],
    ['cancelling', cancelling],
    ['cancelled', cancelled],
    ['succeeded', succeeded],
  ])('a job that is %s is refused', (state, history) => {
    given(...history)
      .when(command.RetryJob())
      .thenRejected('job_state', { state })
  })
})

describe('raising the budget', () => {
  test.each([
    ['queued', queued],
    ['leased', leased],
    ['running', running],
    ['retry_wait', waiting],
    ['pausing', pausing],
    ['paused', paused],
    ['cancelling', cancelling],
  ])('of a job that is %s changes its limits and not its state', (state, history) => {
    const { job } = given(...history)
      .when(command.RaiseBudget({ limits: { maximumCostUsd: milliUsd(2_000), maximumExamples: null } }))
      .thenHappens(event.BudgetRaised({ limits: { maximumCostUsd: milliUsd(2_000), maximumExamples: null } }))
    expect(job).toMatchObject({ state, limits: { maximumCostUsd: '2', maximumExamples: null, maximumCalls: 10 } })
  })

  test('is quiet when the limits are what was asked for', () => {
    given(...running)
      .when(command.RaiseBudget({ limits: { maximumCalls: 10 } }))
      .thenNothing()
    given(...running)
      .when(command.RaiseBudget({ limits: {} }))
      .thenNothing()
  })

  test.each([
    ['maximumCostUsd', milliUsd(999)],
    ['maximumCalls', 9],
    ['maximumInputTokens', 999],
    ['maximumOutputTokens', 1_999],
    ['maximumDurationSeconds', 3_599.5],
    ['maximumExamples', 9],
  ] as const)('below %s as it is now is refused', (limit, lower) => {
    given(...running)
      .when(command.RaiseBudget({ limits: { [limit]: lower } }))
      .thenRejected('limit_lower', { limit, given: lower })
  })

  test('to a number is refused where there is no cap', () => {
    given(event.JobSubmitted(spec({ limits: limits({ maximumCostUsd: null }) })))
      .when(command.RaiseBudget({ limits: { maximumCostUsd: milliUsd(9_000) } }))
      .thenRejected('limit_lower', { limit: 'maximumCostUsd', now: 'not capped' })
  })

  test.each([
    ['cancelled', cancelled],
    ['failed', failed],
    ['succeeded', succeeded],
  ])('of a job that is %s is refused', (state, history) => {
    given(...history)
      .when(command.RaiseBudget())
      .thenRejected('job_state', { state })
  })
})

describe('a command of people that took effect', () => {
  test('is known by its id in every later state, and writes nothing', () => {
    const submit = command.SubmitJob()
    const pause = command.PauseJob()
    const resume = command.ResumeJob({ limits: { maximumCalls: 20 } })
    const raise = command.RaiseBudget({ limits: { maximumCalls: 30 } })
    const cancel = command.CancelJob()
    const sent = [submit, pause, resume, raise, command.ClaimJob(), command.StartJob(), cancel, command.BeginCancel()]
    const job = jobAfter(...sent, command.FinishCancel())
    expect(job.state).toBe('cancelled')
    for (const known of [submit, pause, resume, raise, cancel]) expect(decide(again(known), job)).toEqual([])
  })

  test('is remembered once, and nothing that an owner or an observer sends is', () => {
    const submit = command.SubmitJob()
    const pause = command.PauseJob()
    const resume = command.ResumeJob({ limits: { maximumCalls: 20 } })
    const job = jobAfter(
      submit,
      command.ClaimJob(),
      command.StartJob(),
      command.BeginPause(),
      pause,
      resume,
      command.FinishPause(),
      command.ClaimJob(),
      command.StartJob({ token: 2 }),
    )
    // The pause was under way already, so that asking for it changed nothing.
    expect(job).toMatchObject({ state: 'running', commandIds: [submit.commandId, resume.commandId] })
  })

  test('is known when the resumed job has paused again, and does not resume it once more', () => {
    const resume = command.ResumeJob()
    const job = jobAfter(command.SubmitJob(), command.PauseJob(), resume, command.PauseJob())
    expect(job.state).toBe('paused')
    expect(decide(again(resume), job)).toEqual([])
  })

  test('is known when the retried job has failed again, and does not retry it once more', () => {
    const reconcile = command.ReconcileCall()
    const retry = command.RetryJob()
    const job = jobAfter(
      command.SubmitJob(),
      command.ClaimJob(),
      command.StartJob(),
      command.ReserveCall(),
      command.FailCall(),
      reconcile,
      command.FailAttempt({ failure: { errorCode: 'x', errorSummary: 'x', errorKind: 'bug', retryable: false } }),
      retry,
      command.ClaimJob(),
      command.StartJob({ token: 2 }),
      command.FailAttempt({
        token: 2,
        failure: { errorCode: 'x', errorSummary: 'x', errorKind: 'bug', retryable: false },
      }),
    )
    expect(job.state).toBe('failed')
    expect(decide(again(reconcile), job)).toEqual([])
    expect(decide(again(retry), job)).toEqual([])
  })
})
