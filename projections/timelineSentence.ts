import type { EventData, JobEvent, Limits, PauseReason } from '../domain/job/events.ts'
import type { Usd } from '../domain/money.ts'
import { unreachable } from '../domain/rejection.ts'
import type { ListedJob } from './jobList.ts'
import type { ToldCall } from './jobTimeline.ts'
import type { LogEvent } from './projection.ts'

type Context = {
  readonly before: ListedJob | null
  readonly after: ListedJob | null
  callOf(call: number): ToldCall | null
}

/** What the event says, in one sentence without a full stop. */
export const sentenceOf = (event: LogEvent, context: Context): string => {
  switch (event.type) {
    case 'Unknown':
      return `${event.storedType} (version ${event.schemaVersion}), which is newer than this program`
    case 'JobSubmitted': {
      const { type, projectId, stages, limits, startAfter } = event.data
      const limit = limits.maximumCostUsd === null ? 'without a limit on its cost' : `at most ${dollars(limits.maximumCostUsd)}`
      const start = startAfter === null ? '' : `, not before ${startAfter}`
      return `${event.meta.actor} submitted a ${type} job to project ${projectId}: ${stages.join(' → ')}, ${limit}${start}`
    }
    case 'JobLeased':
      return `${event.data.owner} claimed the job (token ${event.data.token}) for ${seconds(event.data.leaseMs)}`
    case 'JobStarted':
      return `work began at stage ${context.after?.stage ?? 'end'}, attempt ${context.after?.attemptCount ?? 1}`
    case 'LeaseRenewed': {
      const wait = event.data.waitingFor
      if (wait === undefined) return 'the owner is still at work'
      return `the owner waits for ${plain(wait.reason)}${wait.until === null ? '' : ` until ${wait.until}`}`
    }
    case 'LeaseExpired':
      return event.data.reason === 'owner_gone'
        ? `the owner's process is gone; its lease (token ${event.data.token}) ended`
        : `the owner was silent too long; its lease (token ${event.data.token}) ended`
    case 'LeaseReleased':
      return event.data.reason === 'drain'
        ? 'the owner shut down and gave the job back'
        : 'the owner gave the job back: it cannot run it'
    case 'RetryScheduled': {
      const { errorCode, errorSummary, delayMs, delayReason } = event.data
      const why = delayReason === 'retry_after' ? ' as the provider asked' : ''
      return `the attempt failed (${errorCode}: ${errorSummary}); next try in ${seconds(delayMs)}${why}`
    }
    case 'BackoffElapsed':
      return 'the wait is over; the job is queued again'
    case 'JobRetried':
      return `${event.meta.actor} had the failed job tried again`
    case 'PauseRequested':
      return `${event.meta.actor} asked for a pause`
    case 'JobPausing':
      return `pausing: ${pauseText[event.data.reason]}${event.data.detail === undefined ? '' : ` (${event.data.detail})`}`
    case 'JobPaused':
      return `paused: ${pauseText[event.data.reason]}`
    case 'JobResumed':
      return context.after?.state === 'pausing'
        ? `${event.meta.actor} asked to go on once the pause is reached`
        : `${event.meta.actor} resumed the job`
    case 'CancellationRequested':
      return `${event.meta.actor} asked to cancel the job`
    case 'JobCancelling':
      return 'cancelling: calls under way are ended first'
    case 'JobCancelled':
      return `cancelled, having spent ${dollars(context.after?.spentCostUsd)}`
    case 'JobSucceeded':
      return `succeeded, having spent ${dollars(context.after?.spentCostUsd)}`
    case 'JobFailed':
      return `failed (${event.data.errorCode}: ${event.data.errorSummary})`
    case 'CheckpointRecorded':
      return `stage ${event.data.stage} reached checkpoint ${event.data.key}`
    case 'StageCompleted':
      return `stage ${event.data.stage} completed in ${seconds(event.data.durationMs)}`
    case 'CheckpointInvalidated':
      return `the stored result of stage ${event.data.stage} is ${event.data.reason}; the stage is open again`
    case 'ExamplesAccepted':
      return `${event.data.count} ${event.data.count === 1 ? 'example' : 'examples'} accepted (${event.data.key})`
    case 'JobLogged':
      return `${event.data.level}: ${event.data.message}`
    default:
      return moneySentence(event, context)
  }
}

type MoneyType =
  | 'ProviderCallReserved'
  | 'ProviderCallSettled'
  | 'ProviderCallFailed'
  | 'ProviderCallOrphaned'
  | 'ProviderCallReconciled'
  | 'BudgetExhausted'
  | 'BudgetRaised'

const moneySentence = (event: Extract<JobEvent, { type: MoneyType }>, { callOf }: Context): string => {
  const told = (call: number): string => {
    const known = callOf(call)
    return known === null ? `call ${call}` : `call ${call} (${known.key}, ${known.provider} ${known.model})`
  }
  switch (event.type) {
    case 'ProviderCallReserved': {
      const { call, worstCase, takesOver } = event.data
      const over = takesOver === undefined ? '' : `, which takes over from call ${takesOver}`
      return `${dollars(worstCase.costUsd)} set aside for ${told(call)}${over}`
    }
    case 'ProviderCallSettled':
      return `${told(event.data.call)} cost ${dollars(event.data.costUsd)}${settledMarks(event.data)}`
    case 'ProviderCallFailed': {
      const { call, errorCode, errorSummary, billed } = event.data
      const money = billed === 'no' ? 'not billed' : 'its worst case is held, since it may be billed'
      return `${told(call)} failed (${errorCode}: ${errorSummary}): ${money}`
    }
    case 'ProviderCallOrphaned':
      return `nobody knows what became of ${told(event.data.call)}: its worst case is held`
    case 'ProviderCallReconciled': {
      const { call, billed, costUsd, note } = event.data
      const found = billed ? `was billed ${dollars(costUsd)}` : 'was not billed'
      return `${event.meta.actor} found that ${told(call)} ${found}${note === undefined ? '' : ` (${note})`}`
    }
    case 'BudgetExhausted':
      return `${event.data.limit} has no room for the next call, which needs up to ${dollars(event.data.needs.costUsd)}`
    case 'BudgetRaised':
      return `${event.meta.actor} raised ${raised(event.data.limits)}`
    default:
      return unreachable(event)
  }
}

const pauseText: Readonly<Record<PauseReason, string>> = {
  user: 'somebody asked for it',
  budget_exhausted: 'a limit has no room for the next call',
  overrun: 'a call was billed above its worst case',
  artifact_missing: 'a stored result is gone, and making it again would repeat a paid call',
  unknown_outcome: 'nobody knows whether a call was billed',
}

const settledMarks = (data: EventData<'ProviderCallSettled'>): string =>
  [
    data.overrun ? ', above its worst case' : '',
    data.usageInvalid ? ', its worst case, since its usage cannot be' : '',
    data.late ? ', answered after it was held' : '',
  ].join('')

const raised = (limits: EventData<'BudgetRaised'>['limits']): string =>
  Object.entries(limits)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name satisfies string} to ${limitText(value)}`)
    .join(' and ')

const limitText = (value: Limits[keyof Limits] | undefined): string =>
  value === null || value === undefined ? 'no limit' : String(value)

const plain = (code: string): string => code.replaceAll('_', ' ')
const dollars = (amount: Usd | undefined): string => `$${amount ?? '0'}`
const seconds = (ms: number): string => `${ms / 1_000} s`
