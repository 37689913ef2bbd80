import { describe, expect, test } from 'vitest'
import { jobDocument, type JobDocument } from '../../domain/job/document.ts'
import { event, type GivenEvent, instant, jobId, limits, sha } from '../support/controls.ts'
import { given } from '../support/given.ts'

const documentOf = (...events: readonly GivenEvent[]): JobDocument => {
  const { job } = given(...events)
  if (job === null) throw new Error('these events make no job')
  return jobDocument(job)
}
const running = [event.JobSubmitted(), event.JobLeased(), event.JobStarted()]

describe('the job document', () => {
  test('shows a job at work: where it stands, who works it and what it has cost', () => {
    const shown = documentOf(
      ...running,
      event.StageCompleted(),
      event.ProviderCallReserved({ stage: 'generate' }),
      event.ProviderCallSettled(),
      event.ProviderCallReserved({ call: 2, callKey: 'key-2', stage: 'generate' }),
      event.ProviderCallFailed({ call: 2 }),
      event.ProviderCallReserved({ call: 3, callKey: 'key-3', stage: 'generate' }),
      event.ExamplesAccepted({ stage: 'generate', count: 2, progress: { done: 2, total: 3, unit: 'lines' } }),
    )
    expect(shown).toEqual({
      jobId,
      existing: true,
      projectId: 'default',
      type: 'batch',
      definitionVersion: 1,
      state: 'running',
      stage: 'generate',
      stageIndex: 1,
      stages: ['intake', 'generate'],
      progress: { done: 2, total: 3, unit: 'lines' },
      waitingFor: null,
      attemptCount: 1,
      maxAttempts: 3,
      lostLeaseCount: 0,
      leaseOwner: 'worker-a',
      leaseToken: 1,
      leaseExpiresAt: instant(69),
      heartbeatAt: instant(9),
      retryAt: null,
      idempotencyKey: 'the-key',
      inputConfigHash: sha('1'),
      priority: 0,
      labels: { team: 'red' },
      checkpoint: { stage: 'intake', key: '', at: instant(3) },
      estimatedCostUsd: '0.3',
      actualCostUsd: '0.06',
      budget: {
        ...limits(),
        spentCostUsd: '0.06',
        heldCostUsd: '0.1',
        reservedCostUsd: '0.1',
        callsMade: 3,
        inputTokens: 90,
        outputTokens: 150,
        examplesProduced: 2,
        durationSeconds: 7,
        providers: { offline: { calls: 1, costUsd: '0.06' } },
      },
      priceProfile: { id: 'prices', sha256: sha('2') },
      pauseRequestedAt: null,
      cancellationRequestedAt: null,
      errorCode: null,
      errorSummary: null,
      output: null,
      createdAt: instant(0),
      startedAt: instant(2),
      finishedAt: null,
      revision: 9,
    })
  })

  test('shows the end of a job', () => {
    const shown = documentOf(
      ...running,
      event.StageCompleted(),
      event.StageCompleted({ stage: 'generate' }),
      event.JobSucceeded(),
    )
    expect(shown).toMatchObject({
      state: 'succeeded',
      stage: null,
      stageIndex: 2,
      leaseOwner: null,
      output: { json: { results: 3 } },
      errorCode: null,
      finishedAt: instant(5),
    })
  })

  test('shows why a job failed, and until when it waits for another try', () => {
    const scheduled = event.RetryScheduled({ retryAt: instant(99), delayReason: 'retry_after' })
    expect(documentOf(...running, scheduled)).toMatchObject({
      state: 'retry_wait',
      retryAt: instant(99),
      waitingFor: { reason: 'retry_after', until: instant(99) },
      errorCode: 'timeout',
      leaseOwner: null,
    })
    expect(documentOf(...running, event.JobFailed())).toMatchObject({
      state: 'failed',
      errorCode: 'bad_request',
      errorSummary: 'the model refused the request',
    })
  })

  test('shows that a job waits for its time, until somebody takes it', () => {
    const later = event.JobSubmitted({ startAfter: instant(500) })
    expect(documentOf(later).waitingFor).toEqual({ reason: 'start_after', until: instant(500) })
    expect(documentOf(later, event.JobLeased()).waitingFor).toBeNull()
    expect(documentOf(event.JobSubmitted()).waitingFor).toBeNull()
  })

  test('shows a recorded request', () => {
    expect(documentOf(...running, event.PauseRequested()).pauseRequestedAt).toBe(instant(3))
    expect(documentOf(...running, event.CancellationRequested()).cancellationRequestedAt).toBe(instant(3))
  })

  test.each([
    ['budget_exhausted', 'maximumCalls has no room for the next call'],
    ['overrun', 'a call was billed above its worst case'],
    ['artifact_missing', 'a stored result is gone, and making it again would repeat a paid call'],
    ['unknown_outcome', 'nobody knows whether a call was billed'],
  ] as const)('shows that a job paused for %s, and what that means', (reason, summary) => {
    const exhausted = reason === 'budget_exhausted' ? [event.BudgetExhausted()] : []
    const pausing = [...running, ...exhausted, event.JobPausing({ reason })]
    const why = { errorCode: reason, errorSummary: summary }
    expect(documentOf(...pausing)).toMatchObject({ state: 'pausing', ...why })
    const paused = [...pausing, event.JobPaused({ reason })]
    expect(documentOf(...paused)).toMatchObject({ state: 'paused', ...why, waitingFor: { reason, until: null } })
    expect(documentOf(...paused, event.JobResumed())).toMatchObject({ errorCode: null, waitingFor: null })
  })

  test('shows no error where a person asked for the pause', () => {
    const paused = [...running, event.PauseRequested(), event.JobPausing(), event.JobPaused()]
    expect(documentOf(...paused)).toMatchObject({
      errorCode: null,
      errorSummary: null,
      pauseRequestedAt: null,
      waitingFor: { reason: 'user' },
    })
  })

  test('shows nothing of a wait, a pause or an error that the end has left behind', () => {
    const waiting = [...running, event.RetryScheduled()]
    const cancelled = [event.CancellationRequested(), event.JobCancelled()]
    const left = { waitingFor: null, retryAt: null, pauseRequestedAt: null, errorCode: 'timeout' }
    expect(documentOf(...waiting, ...cancelled)).toMatchObject({ state: 'cancelled', ...left })
    const again = [event.BackoffElapsed(), event.JobLeased({ token: 2 }), event.JobStarted()]
    const done = [event.StageCompleted(), event.StageCompleted({ stage: 'generate' }), event.JobSucceeded()]
    expect(documentOf(...waiting, ...again, ...done)).toMatchObject({ state: 'succeeded', ...left, errorCode: null })
    const waitingOwner = [...running, event.LeaseRenewed({ waitingFor: { reason: 'rate_limit', until: null } })]
    expect(documentOf(...waitingOwner, event.JobFailed()).waitingFor).toBeNull()
  })

  test('says of a job that was just made that it did not exist before', () => {
    const { job } = given(event.JobSubmitted())
    expect(job && jobDocument(job, false).existing).toBe(false)
  })
})
