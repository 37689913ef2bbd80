import { describe, expect, test } from 'vitest'
import { amounts, command, event, limits, milliUsd, noLimits, spec, usage } from '../support/controls.ts'
import { given } from '../support/given.ts'

const submitted = (overrides = limits()) => [event.JobSubmitted(spec({ limits: overrides }))]
const runningWith = (overrides = limits()) => [...submitted(overrides), event.JobLeased(), event.JobStarted()]
const running = runningWith()
const open = [...running, event.ProviderCallReserved()]
const held = [...open, event.ProviderCallFailed({ billed: 'unknown' })]
const overrun = [...open, event.ProviderCallSettled({ costUsd: milliUsd(101), overrun: true })]
const second = { call: 2, callKey: 'key-2' }
const fenced = [...running, event.LeaseExpired(), event.JobLeased({ token: 2 }), event.JobStarted()]

describe('reserving a call', () => {
  test('sets its worst case aside before it is sent', () => {
    const { job } = given(...running)
      .when(command.ReserveCall())
      .thenHappens(event.ProviderCallReserved())
    expect(job.money).toEqual({ spent: zero, held: zero, reserved: amounts() })
    expect(job.open).toMatchObject({ 1: { callKey: 'key-1', worstCase: amounts() } })
  })

  test('numbers the calls of the job from one on', () => {
    given(...open, event.ProviderCallSettled())
      .when(command.ReserveCall({ callKey: 'key-2' }))
      .thenHappens(event.ProviderCallReserved(second))
  })

  test.each([
    ['maximumCostUsd', { maximumCostUsd: milliUsd(200) }],
    ['maximumCalls', { maximumCalls: 2 }],
    ['maximumInputTokens', { maximumInputTokens: 200 }],
    ['maximumOutputTokens', { maximumOutputTokens: 400 }],
    ['maximumExamples', { maximumExamples: 2 }],
  ])('that exactly reaches %s is allowed', (_limit, reached) => {
    given(...runningWith({ ...noLimits, ...reached }), event.ProviderCallReserved())
      .when(command.ReserveCall({ callKey: 'key-2' }))
      .thenHappens(event.ProviderCallReserved(second))
  })

  test.each([
    ['maximumCostUsd', { maximumCostUsd: milliUsd(199) }, '0.199', '0.2'],
    ['maximumCalls', { maximumCalls: 1 }, '1', '2'],
    ['maximumInputTokens', { maximumInputTokens: 199 }, '199', '200'],
    ['maximumOutputTokens', { maximumOutputTokens: 399 }, '399', '400'],
    ['maximumExamples', { maximumExamples: 1 }, '1', '2'],
  ])('that would cross %s is refused before anything is spent', (limit, crossed, maximum, needed) => {
    given(...runningWith({ ...noLimits, ...crossed }), event.ProviderCallReserved())
      .when(command.ReserveCall({ callKey: 'key-2' }))
      .thenRejected('budget_exhausted', { limit, maximum, needed })
  })

  test('counts what is settled, held and reserved together', () => {
    const three = [
      ...runningWith({ ...noLimits, maximumCostUsd: milliUsd(359) }),
      event.ProviderCallReserved(),
      event.ProviderCallSettled(),
      event.ProviderCallReserved(second),
      event.ProviderCallFailed({ call: 2 }),
      event.ProviderCallReserved({ call: 3, callKey: 'key-3' }),
    ]
    given(...three)
      .when(command.ReserveCall({ callKey: 'key-4' }))
      .thenRejected('budget_exhausted', { maximum: '0.359', needed: '0.36' })
  })

  test('is not limited where there is no cap', () => {
    given(...runningWith(noLimits))
      .when(command.ReserveCall({ worstCase: amounts({ costUsd: milliUsd(9_000_000), inputTokens: 2 ** 40 }) }))
      .thenHappens(
        event.ProviderCallReserved({ worstCase: amounts({ costUsd: milliUsd(9_000_000), inputTokens: 2 ** 40 }) }),
      )
  })

  test('is refused once a pause or a cancel was asked for, the cancel first', () => {
    given(...running, event.PauseRequested())
      .when(command.ReserveCall())
      .thenRejected('pause_requested')
    given(...running, event.JobPausing({ reason: 'overrun' }))
      .when(command.ReserveCall())
      .thenRejected('pause_requested')
    given(...running, event.PauseRequested(), event.CancellationRequested())
      .when(command.ReserveCall())
      .thenRejected('cancel_requested')
    given(...running, event.CancellationRequested(), event.JobCancelling())
      .when(command.ReserveCall())
      .thenRejected('cancel_requested')
  })

  test('is allowed again when the pause was taken back', () => {
    given(...running, event.PauseRequested(), event.JobResumed())
      .when(command.ReserveCall())
      .thenHappens(event.ProviderCallReserved())
  })

  test('before the start, for another stage or with a stale token is refused', () => {
    given(...submitted(), event.JobLeased())
      .when(command.ReserveCall())
      .thenRejected('job_state')
    given(...running)
      .when(command.ReserveCall({ stage: 'generate' }))
      .thenRejected('wrong_stage')
    given(...fenced)
      .when(command.ReserveCall({ token: 1 }))
      .thenRejected('lease_lost')
  })

  test('with a key that is in flight is refused: who wants two answers gives two keys', () => {
    given(...open)
      .when(command.ReserveCall())
      .thenRejected('call_in_flight', { callKey: 'key-1' })
  })

  test('beside a hold of the same key counts both', () => {
    const { job } = given(...held)
      .when(command.ReserveCall())
      .thenHappens(event.ProviderCallReserved({ call: 2 }))
    expect(job.money).toMatchObject({ held: amounts(), reserved: amounts() })
  })
})

describe('taking a hold over', () => {
  test('moves its worst case back to what is reserved, so that it needs no further room', () => {
    const { job } = given(...runningWith({ ...noLimits, maximumCalls: 1 }), ...held.slice(3))
      .when(command.ReserveCall({ takesOver: 1 }))
      .thenHappens(event.ProviderCallReserved({ call: 2, takesOver: 1 }))
    expect(job).toMatchObject({ holds: {}, money: { held: zero, reserved: amounts() } })
    expect(Object.keys(job.open)).toEqual(['2'])
  })

  test('closes it for good with the settlement', () => {
    const { job } = given(...held, event.ProviderCallReserved({ call: 2, takesOver: 1 }))
      .when(command.SettleCall({ call: 2 }))
      .thenHappens(event.ProviderCallSettled({ call: 2 }))
    expect(job.money).toMatchObject({ held: zero, reserved: zero, spent: { costUsd: '0.06', calls: 1 } })
  })

  test('still needs room for what the new send may cost more', () => {
    given(...runningWith({ ...noLimits, maximumInputTokens: 100 }), ...held.slice(3))
      .when(command.ReserveCall({ takesOver: 1, worstCase: amounts({ inputTokens: 101 }) }))
      .thenRejected('budget_exhausted', { limit: 'maximumInputTokens', needed: '101' })
  })

  test('of a call that is not held, or is held with another key, is refused', () => {
    given(...running)
      .when(command.ReserveCall({ takesOver: 1 }))
      .thenRejected('call_not_held', { call: 1 })
    given(...held)
      .when(command.ReserveCall({ takesOver: 1, callKey: 'key-2' }))
      .thenRejected('call_not_held', { call: 1 })
    given(...held, event.ProviderCallReconciled())
      .when(command.ReserveCall({ takesOver: 1 }))
      .thenRejected('call_not_held', { call: 1 })
  })
})

describe('settling a call', () => {
  test('books what it cost and gives the rest of its worst case back', () => {
    const { job } = given(...open)
      .when(command.SettleCall())
      .thenHappens(event.ProviderCallSettled())
    expect(job).toMatchObject({
      open: {},
      money: {
        spent: { costUsd: '0.06', calls: 1, inputTokens: 90, outputTokens: 150, examples: 0 },
        held: zero,
        reserved: zero,
      },
      byProvider: { offline: { calls: 1, costUsd: '0.06' } },
    })
  })

  test('above its worst case is booked in full and marked as an overrun', () => {
    const { job } = given(...open)
      .when(command.SettleCall({ costUsd: milliUsd(250) }))
      .thenHappens(event.ProviderCallSettled({ costUsd: milliUsd(250), overrun: true }))
    expect(job).toMatchObject({ overrun: true, money: { spent: { costUsd: '0.25' } } })
  })

  test.each([
    ['input', { ...usage, inputTokens: 91 }],
    ['output', { ...usage, outputTokens: 201 }],
  ])('with more %s tokens than reserved is an overrun where they have a limit, whatever it cost', (_kind, tooMany) => {
    given(...open)
      .when(command.SettleCall({ usage: tooMany }))
      .thenHappens(event.ProviderCallSettled({ usage: tooMany, overrun: true }))
  })

  test('with more tokens than reserved is no overrun where tokens have no limit and it cost no more', () => {
    const tooMany = { ...usage, inputTokens: 91, outputTokens: 201 }
    given(...runningWith(noLimits), event.ProviderCallReserved())
      .when(command.SettleCall({ usage: tooMany }))
      .thenHappens(event.ProviderCallSettled({ usage: tooMany }))
  })

  test('exactly at its worst case is no overrun', () => {
    const most = { ...usage, inputTokens: 90, outputTokens: 200 }
    given(...open)
      .when(command.SettleCall({ costUsd: milliUsd(100), usage: most }))
      .thenHappens(event.ProviderCallSettled({ costUsd: milliUsd(100), usage: most }))
  })

  test('with usage that cannot be is charged at its worst case and marked', () => {
    const { job } = given(...open)
      .when(command.SettleCall({ usage: null, costUsd: milliUsd(1) }))
      .thenHappens(event.ProviderCallSettled({ usage: null, costUsd: milliUsd(100), usageInvalid: true }))
    expect(job.money.spent).toEqual(amounts({ examples: 0 }))
  })

  test('whose answer came after it was held closes the hold', () => {
    const { job } = given(...open, event.LeaseExpired(), event.ProviderCallOrphaned(), event.JobLeased({ token: 2 }))
      .when(command.SettleCall({ token: 2 }))
      .thenHappens(event.ProviderCallSettled({ late: true }))
    expect(job).toMatchObject({ holds: {}, money: { held: zero, spent: { costUsd: '0.06' } } })
  })

  test('is quiet when it is neither open nor held any more', () => {
    given(...open, event.ProviderCallSettled())
      .when(command.SettleCall())
      .thenNothing()
    given(...open, event.ProviderCallFailed({ billed: 'no' }))
      .when(command.SettleCall())
      .thenNothing()
    given(...held, event.ProviderCallReserved({ call: 2, takesOver: 1 }))
      .when(command.SettleCall({ call: 1 }))
      .thenNothing()
  })

  test('is still possible while the job is being flushed', () => {
    given(...open, event.PauseRequested(), event.JobPausing())
      .when(command.SettleCall())
      .thenHappens(event.ProviderCallSettled())
    given(...open, event.CancellationRequested(), event.JobCancelling())
      .when(command.SettleCall())
      .thenHappens(event.ProviderCallSettled())
  })

  test('with a stale token is refused', () => {
    given(...open, event.LeaseExpired(), event.ProviderCallOrphaned(), event.JobLeased({ token: 2 }))
      .when(command.SettleCall({ token: 1 }))
      .thenRejected('lease_lost')
  })

  test('of a provider named like something every object has is booked like any other', () => {
    const { job } = given(
      ...running,
      event.ProviderCallReserved({ provider: 'constructor' }),
      event.ProviderCallSettled(),
      event.ProviderCallReserved({ ...second, provider: 'constructor' }),
      event.ProviderCallSettled({ call: 2 }),
    )
    expect(Object.entries(job?.byProvider ?? {})).toEqual([['constructor', { calls: 2, costUsd: '0.12' }]])
  })
})

describe('an overrun', () => {
  test('stops the next call, although there is room for it', () => {
    given(...overrun)
      .when(command.ReserveCall({ callKey: 'key-2' }))
      .thenRejected('overrun')
  })

  test('goes on stopping calls when a pause that had not begun is taken back', () => {
    given(...overrun, event.PauseRequested(), event.JobResumed())
      .when(command.ReserveCall({ callKey: 'key-2' }))
      .thenRejected('overrun')
  })

  test('goes on stopping calls after a lost lease, a drain and an explicit retry', () => {
    const claimed = [event.JobLeased({ token: 2 }), event.JobStarted()]
    for (const ending of [[event.LeaseExpired()], [event.LeaseReleased()], [event.JobFailed(), event.JobRetried()]]) {
      given(...overrun, ...ending, ...claimed)
        .when(command.ReserveCall({ token: 2, callKey: 'key-2' }))
        .thenRejected('overrun')
    }
  })

  test('goes on stopping calls when it came behind a resume that was recorded while the job was pausing', () => {
    const resumed = [event.PauseRequested(), event.JobPausing(), event.JobResumed()]
    const billed = event.ProviderCallSettled({ costUsd: milliUsd(101), overrun: true })
    const { job } = given(...open, ...resumed, billed)
      .when(command.FinishPause())
      .thenHappens(event.JobPaused(), event.JobResumed())
    expect(job).toMatchObject({ state: 'queued', overrun: true })
  })

  test('is answered by a resume that was recorded behind it while the job was pausing', () => {
    const { job } = given(...overrun, event.JobPausing({ reason: 'overrun' }), event.JobResumed())
      .when(command.FinishPause())
      .thenHappens(event.JobPaused({ reason: 'overrun' }), event.JobResumed())
    expect(job).toMatchObject({ state: 'queued', overrun: false })
  })

  test('is answered by the resume of the paused job', () => {
    const pausedForIt = [event.JobPausing({ reason: 'overrun' }), event.JobPaused({ reason: 'overrun' })]
    given(...overrun, ...pausedForIt, event.JobResumed(), event.JobLeased({ token: 2 }), event.JobStarted())
      .when(command.ReserveCall({ token: 2, callKey: 'key-2' }))
      .thenHappens(event.ProviderCallReserved(second))
  })
})

describe('failing a call', () => {
  test('that was not billed gives its reservation back', () => {
    const { job } = given(...open)
      .when(command.FailCall({ billed: 'no' }))
      .thenHappens(event.ProviderCallFailed({ billed: 'no' }))
    expect(job).toMatchObject({ open: {}, holds: {}, money: { reserved: zero, held: zero, spent: zero } })
  })

  test('that may have been billed holds its worst case', () => {
    const { job } = given(...open)
      .when(command.FailCall({ billed: 'unknown' }))
      .thenHappens(event.ProviderCallFailed({ billed: 'unknown' }))
    expect(job).toMatchObject({ open: {}, money: { reserved: zero, held: amounts(), spent: zero } })
    expect(job.holds).toMatchObject({ 1: { callKey: 'key-1' } })
  })

  test('records the wait that was chosen before the next send', () => {
    const wait = { delayMs: 750, delayReason: 'backoff' as const, luck: 0.5, status: 429, billed: 'no' as const }
    given(...open)
      .when(command.FailCall(wait))
      .thenHappens(event.ProviderCallFailed(wait))
  })

  test('is quiet when it is not open any more', () => {
    given(...held)
      .when(command.FailCall())
      .thenNothing()
    given(...running)
      .when(command.FailCall())
      .thenNothing()
  })

  test('with a stale token is refused', () => {
    given(...fenced)
      .when(command.FailCall({ token: 1 }))
      .thenRejected('lease_lost')
  })
})

describe('reconciling a held call', () => {
  const orphaned = [...open, event.LeaseExpired(), event.ProviderCallOrphaned()]
  const claimed = [...orphaned, event.JobLeased({ token: 2 })]
  const started = [...claimed, event.JobStarted()]
  const pausing = [...held, event.JobPausing({ reason: 'unknown_outcome' })]
  const cancelling = [...held, event.CancellationRequested(), event.JobCancelling()]

  test.each([
    ['queued', orphaned],
    ['leased', claimed],
    ['running', held],
    ['retry_wait', [...held, event.RetryScheduled()]],
    ['pausing', pausing],
    ['paused', [...pausing, event.JobPaused({ reason: 'unknown_outcome' })]],
    ['cancelling', cancelling],
    ['cancelled', [...cancelling, event.JobCancelled()]],
    ['failed', [...held, event.JobFailed()]],
    ['succeeded', [...held, event.StageCompleted(), event.StageCompleted({ stage: 'generate' }), event.JobSucceeded()]],
  ])('books what a person found out, in state %s, and changes nothing else', (state, history) => {
    const { job } = given(...history)
      .when(command.ReconcileCall())
      .thenHappens(event.ProviderCallReconciled())
    expect(job).toMatchObject({
      state,
      holds: {},
      money: { held: zero, spent: { costUsd: '0.05', calls: 1, inputTokens: 90, outputTokens: 150 } },
    })
  })

  test('that was never billed gives its hold back and counts no call', () => {
    const unbilled = { costUsd: milliUsd(0), inputTokens: 0, outputTokens: 0, billed: false, note: 'not on the bill' }
    const { job } = given(...held)
      .when(command.ReconcileCall(unbilled))
      .thenHappens(event.ProviderCallReconciled(unbilled))
    expect(job.money).toEqual({ spent: zero, held: zero, reserved: zero })
  })

  test('that was never billed cost nothing, whatever else was said of it', () => {
    const nothingAtAll = { costUsd: milliUsd(0), inputTokens: 0, outputTokens: 0, billed: false }
    given(...held)
      .when(command.ReconcileCall({ costUsd: milliUsd(70), inputTokens: 7, outputTokens: 7, billed: false }))
      .thenHappens(event.ProviderCallReconciled(nothingAtAll))
  })

  test('billed above what was held is booked in full, and marked', () => {
    const dear = { costUsd: milliUsd(101), billed: true }
    const { job } = given(...held)
      .when(command.ReconcileCall(dear))
      .thenHappens(event.ProviderCallReconciled({ ...dear, overrun: true }))
    expect(job.money.spent.costUsd).toBe('0.101')
  })

  test('is refused while its key is in flight', () => {
    given(...held, event.ProviderCallReserved({ call: 2 }))
      .when(command.ReconcileCall())
      .thenRejected('call_in_flight', { callKey: 'key-1' })
    given(...held, event.ProviderCallReserved(second))
      .when(command.ReconcileCall())
      .thenHappens(event.ProviderCallReconciled())
  })

  test('is refused for a call that is open, settled, reconciled or unknown, and names those that are held', () => {
    given(...open)
      .when(command.ReconcileCall())
      .thenRejected('call_not_held', { call: 1, held: [] })
    given(...open, event.ProviderCallSettled())
      .when(command.ReconcileCall())
      .thenRejected('call_not_held')
    given(...held, event.ProviderCallReconciled())
      .when(command.ReconcileCall())
      .thenRejected('call_not_held')
    given(...started)
      .when(command.ReconcileCall({ call: 7 }))
      .thenRejected('call_not_held', { call: 7, held: [1] })
  })
})

const zero = amounts({ costUsd: milliUsd(0), calls: 0, inputTokens: 0, outputTokens: 0, examples: 0 })
