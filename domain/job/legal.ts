import { examplesExceeded, firstExceeded, firstLowered, isOverrun, minus } from '../budget.ts'
import { inputTokensOf } from '../pricing.ts'
import type { EventType } from './events.ts'
import type { FoldedEvent } from './evolve.ts'
import { isTerminal, type Job, stageAtWork } from './job.ts'
import { nextState } from './transitions.ts'

/** The rule that an event breaks, in a sentence. */
export type Illegality = { readonly rule: string; readonly message: string }

/**
 * Judges an event that stands in a log: could a program that keeps the rules have written it behind this job?
 * Null when it could. Deliberately not made of `decide`, so that the two check each other.
 */
export const illegality = (job: Job | null, event: FoldedEvent): Illegality | null => {
  const broken = (rule: string, message: string): Illegality => ({
    rule,
    message: `${event.type} at revision ${event.revision}: ${message}`,
  })
  if (nextState(job?.state ?? 'none', event.type) === null) {
    return broken('transition', `not possible in state ${job?.state ?? 'none'}`)
  }
  if (job === null) return event.revision === 0 ? null : broken('gapless', `a stream begins at revision 0`)
  if (event.revision !== job.revision + 1) return broken('gapless', `expected revision ${job.revision + 1}`)
  const message =
    afterTheEnd(job, event) ??
    ofItsOwner(job, event) ??
    ownerless(job, event) ??
    ofALostWorker(job, event) ??
    closed(job, event) ??
    inOrder(job, event)
  if (message !== null) return broken(message[0], message[1])
  return null
}

type Broken = readonly [rule: string, message: string] | null

const ownersEvents: ReadonlySet<EventType> = new Set([
  'JobStarted',
  'LeaseRenewed',
  'LeaseReleased',
  'RetryScheduled',
  'JobPausing',
  'JobCancelling',
  'JobSucceeded',
  'CheckpointRecorded',
  'StageCompleted',
  'CheckpointInvalidated',
  'ExamplesAccepted',
  'JobLogged',
  'ProviderCallReserved',
  'ProviderCallSettled',
  'ProviderCallFailed',
  'BudgetExhausted',
])

/** The owner's as long as there is one: without, they follow the end of a lease, or nobody was running the job. */
const ownersIfOwned: ReadonlySet<EventType> = new Set(['JobPaused', 'JobCancelled', 'JobFailed'])

const needsClosedCalls: ReadonlySet<EventType> = new Set([
  'StageCompleted',
  'LeaseReleased',
  'RetryScheduled',
  'JobPaused',
  'JobCancelled',
  'JobSucceeded',
  'JobFailed',
])

const afterTheEnd = (job: Job, event: FoldedEvent): Broken => {
  if (!isTerminal(job.state) || event.type === 'ProviderCallReconciled') return null
  if (event.type !== 'JobRetried') return ['terminal', `the job is ${job.state}`]
  return job.error?.kind === 'policy_block' ? ['policy_block', 'a policy failure is never retried'] : null
}

const ofItsOwner = (job: Job, event: FoldedEvent): Broken => {
  const token = event.meta.leaseToken
  if (event.type === 'JobLeased') {
    if (event.data.token !== job.lastToken + 1) return ['fencing', `token ${event.data.token} after ${job.lastToken}`]
    return token === event.data.token ? null : ['fencing', 'a claim carries its own token']
  }
  if (ownersIfOwned.has(event.type) && job.lease === null) return null
  // A job that nobody flushes any more is cancelled by whoever sees it.
  const byObserver = event.type === 'JobCancelling' && job.state === 'pausing' && job.lease === null
  if (byObserver || !(ownersEvents.has(event.type) || ownersIfOwned.has(event.type))) return null
  if (token === undefined || token !== job.lease?.token) {
    return ['fencing', `token ${token ?? 'none'} is not the current lease's ${job.lease?.token ?? 'none'}`]
  }
  return null
}

/** Between the end of a lease and whatever follows it, only what that end brings about may stand. */
const ownerless = (job: Job, event: FoldedEvent): Broken => {
  if (event.type === 'LeaseExpired') {
    return event.data.token === job.lease?.token ? null : ['fencing', `no lease has token ${event.data.token}`]
  }
  if (job.lease !== null) return null
  if (Object.keys(job.open).length > 0 && event.type !== 'ProviderCallOrphaned') {
    return ['orphans', 'the lease ended with open calls that are not held yet']
  }
  const flushing = job.state === 'pausing' || job.state === 'cancelling'
  const ending = ['ProviderCallOrphaned', 'JobPaused', 'JobCancelling', 'JobCancelled'].includes(event.type)
  if (flushing && !ending) return ['flush', `nobody is left to flush the job, which is ${job.state}`]
  if (job.cancellationRequestedAt !== null && !isTerminal(job.state) && !ending) {
    return ['request', 'a cancel was asked for, and nobody runs the job: it is cancelled at once']
  }
  if (job.pauseRequestedAt !== null && isIdle(job) && !ending) {
    return ['request', 'a pause was asked for, and nobody runs the job: it pauses at once']
  }
  return null
}

const isIdle = (job: Job): boolean => job.state === 'queued' || job.state === 'retry_wait'

const ofALostWorker = (job: Job, event: FoldedEvent): Broken => {
  if (event.type !== 'JobFailed') return null
  const isLost = job.lease === null
  if (isLost !== (event.data.errorKind === 'worker_lost')) {
    return ['worker_lost', 'a job fails as worker_lost exactly when its lease has ended']
  }
  return isLost && job.lostLeaseCount < job.spec.maxLostLeases
    ? ['worker_lost', `only ${job.lostLeaseCount} leases were lost in a row`]
    : null
}

const closed = (job: Job, event: FoldedEvent): Broken => {
  const open = Object.keys(job.open).length
  return open > 0 && needsClosedCalls.has(event.type) ? ['open_calls', `${open} calls are open`] : null
}

const inOrder = (job: Job, event: FoldedEvent): Broken => {
  switch (event.type) {
    case 'StageCompleted':
    case 'CheckpointRecorded':
    case 'ExamplesAccepted':
      if (event.data.stage !== stageAtWork(job)) return ['stage', `the stage at work is ${stageAtWork(job) ?? 'none'}`]
      return event.type === 'ExamplesAccepted' &&
        examplesExceeded(job.limits, job.money, event.data.count) !== null
        ? ['limits', 'maximumExamples is crossed']
        : null
    case 'CheckpointInvalidated': {
      const index = job.spec.stages.indexOf(event.data.stage)
      return index === -1 || index > job.stageIndex ? ['stage', `no stage "${event.data.stage}" was reached`] : null
    }
    case 'JobSucceeded':
      return stageAtWork(job) === null ? null : ['stage', `stage ${stageAtWork(job)} is not completed`]
    case 'ProviderCallReserved':
      return reservationBroken(job, event)
    case 'ProviderCallSettled':
      return settlementBroken(job, event)
    case 'ProviderCallFailed':
    case 'ProviderCallOrphaned':
      return job.open[event.data.call] === undefined ? ['ledger', `call ${event.data.call} is not open`] : null
    case 'ProviderCallReconciled': {
      const hold = job.holds[event.data.call]
      if (hold === undefined) return ['ledger', `call ${event.data.call} is not held`]
      const isMarked = event.data.overrun === true
      return isOverrun(job.limits, hold.worstCase, event.data) === isMarked
        ? null
        : ['overrun', `call ${event.data.call} is not marked as it was billed`]
    }
    case 'BudgetRaised':
      return firstLowered(job.limits, event.data.limits) !== null ? ['limits', 'a limit is lowered'] : null
    default:
      return null
  }
}

const settlementBroken = (job: Job, event: Extract<FoldedEvent, { type: 'ProviderCallSettled' }>): Broken => {
  const { call, costUsd, usage } = event.data
  const reservation = job.open[call] ?? job.holds[call]
  if (reservation === undefined) return ['ledger', `call ${call} is neither open nor held`]
  if ((event.data.late === true) !== (job.open[call] === undefined)) {
    return ['ledger', `call ${call} is not marked by whether its answer was late`]
  }
  if ((event.data.usageInvalid === true) !== (usage === null)) {
    return ['ledger', `call ${call} is not marked by whether its usage can be`]
  }
  const { worstCase } = reservation
  if (usage === null && costUsd !== worstCase.costUsd) return ['ledger', `call ${call} is not charged at its worst case`]
  const overrun =
    usage !== null &&
    isOverrun(job.limits, worstCase, { costUsd, inputTokens: inputTokensOf(usage), outputTokens: usage.outputTokens })
  return (event.data.overrun === true) === overrun ? null : ['overrun', `call ${call} is not marked as it was billed`]
}

const reservationBroken = (job: Job, event: Extract<FoldedEvent, { type: 'ProviderCallReserved' }>): Broken => {
  const { call, callKey, takesOver, worstCase } = event.data
  if (job.state !== 'running') return ['reserve', `the job is ${job.state}`]
  if (job.pauseRequestedAt !== null || job.cancellationRequestedAt !== null) return ['reserve', 'the job was asked to stop']
  if (job.overrun) return ['overrun', 'nobody has answered the overrun yet']
  if (call !== job.lastCall + 1) return ['ledger', `call ${call} after ${job.lastCall}`]
  if (Object.values(job.open).some((each) => each.callKey === callKey)) return ['ledger', 'its key is in flight']
  if (takesOver !== undefined && job.holds[takesOver]?.callKey !== callKey) {
    return ['ledger', `call ${takesOver} is not held with this key`]
  }
  const over = takesOver === undefined ? undefined : job.holds[takesOver]
  const exceeded = firstExceeded(
    job.limits,
    over === undefined ? job.money : { ...job.money, held: minus(job.money.held, over.worstCase) },
    worstCase,
  )
  if (exceeded === null) return null
  return ['limits', `${exceeded.limit} is ${exceeded.maximum} and would be ${exceeded.needed}`]
}
