import type { EventData, JobEvent } from '../../domain/job/events.ts'
import { dollarsText } from './dollarsText.ts'

/** What is worth knowing of an event in one line, beside its type. */
export const eventDetails = (event: JobEvent): string => {
  switch (event.type) {
    case 'JobSubmitted': {
      const { type, projectId, provider, model, limits } = event.data
      const asked = [provider?.name, model].filter((part) => part !== null && part !== undefined).join('/')
      const limit = limits.maximumCostUsd === null ? '' : `, at most ${dollarsText(limits.maximumCostUsd)}`
      return `${projectId}/${type}${asked === '' ? '' : ` by ${asked}`}${limit} (${event.meta.actor})`
    }
    case 'JobLeased':
      return `to ${event.data.owner}, token ${event.data.token}, for ${event.data.leaseMs / 1_000} s`
    case 'LeaseRenewed':
      return event.data.waitingFor === undefined ? '' : `waiting for ${event.data.waitingFor.reason}`
    case 'LeaseExpired':
      return `token ${event.data.token}: ${event.data.reason === 'owner_gone' ? 'its worker is gone' : 'its worker was silent'}`
    case 'LeaseReleased':
      return event.data.reason
    case 'RetryScheduled': {
      const { errorCode, errorSummary, retryAt, delayMs, delayReason } = event.data
      return `${errorCode}: ${errorSummary}; again at ${retryAt} (${delayMs / 1_000} s, ${delayReason})`
    }
    case 'JobPausing':
    case 'JobPaused':
      return event.data.reason
    case 'JobFailed':
      return `${event.data.errorCode}: ${event.data.errorSummary}`
    case 'CheckpointRecorded':
      return `${event.data.stage} ${event.data.key}`
    case 'StageCompleted':
      return `${event.data.stage} in ${event.data.durationMs / 1_000} s`
    case 'CheckpointInvalidated':
      return `${event.data.stage}: ${event.data.sha256} is ${event.data.reason}`
    case 'ExamplesAccepted':
      return `${event.data.count} under ${event.data.key}`
    case 'JobLogged':
      return `${event.data.level}: ${event.data.message}`
    case 'ProviderCallReserved':
      return `call ${event.data.call} (${event.data.key}), up to ${dollarsText(event.data.worstCase.costUsd)}`
    case 'ProviderCallSettled':
      return `call ${event.data.call} for ${dollarsText(event.data.costUsd)} in ${event.data.durationMs / 1_000} s${settledMarks(event.data)}`
    case 'ProviderCallFailed':
      return `call ${event.data.call}: ${event.data.errorCode}: ${event.data.errorSummary} (billed: ${event.data.billed})`
    case 'ProviderCallOrphaned':
      return `call ${event.data.call}: held, since nobody knows whether it was billed`
    case 'ProviderCallReconciled':
      return `call ${event.data.call}: ${event.data.billed ? `billed ${dollarsText(event.data.costUsd)}` : 'not billed'} (${event.meta.actor})`
    case 'BudgetExhausted':
      return `${event.data.limit}; the next call needs up to ${dollarsText(event.data.needs.costUsd)}`
    case 'BudgetRaised':
      return `${Object.entries(event.data.limits).map(([name, value]) => `${name} ${value ?? 'without a limit'}`).join(', ')} (${event.meta.actor})`
    case 'JobRetried':
    case 'PauseRequested':
    case 'JobResumed':
    case 'CancellationRequested':
      return `by ${event.meta.actor}`
    case 'JobStarted':
    case 'BackoffElapsed':
    case 'JobCancelling':
    case 'JobCancelled':
    case 'JobSucceeded':
      return ''
  }
}

const settledMarks = (data: EventData<'ProviderCallSettled'>): string =>
  [data.overrun ? ', above its worst case' : '', data.usageInvalid ? ', usage that cannot be' : '', data.late ? ', late' : ''].join('')
