import type { JobEvent, UnknownEvent } from '../../../domain/job/events.ts'
import { dollarsText } from '../dollarsText.ts'
import { eventDetails } from '../eventDetails.ts'
import type { Style } from '../paint.ts'

/** Something that happened to a job, worth a line to whoever watches it. */
export type Note = { readonly at: string; readonly text: string; readonly style: Style | null }

const ofLevel = { info: null, warn: 'yellow', error: 'red' } as const

/** Null for what is told elsewhere, or is the ordinary course of things. */
export const noteOf = (event: JobEvent | UnknownEvent): Note | null => {
  const note = (text: string, style: Style | null = null): Note => ({ at: event.recordedAt, text, style })
  switch (event.type) {
    case 'JobLogged':
      return note(event.data.message, ofLevel[event.data.level])
    case 'JobLeased':
      return event.data.token === 1 ? null : note(`taken by ${event.data.owner}`)
    case 'LeaseExpired':
      return note(`lost its worker: ${event.data.reason === 'owner_gone' ? 'its process is gone' : 'it was silent'}`, 'yellow')
    case 'LeaseReleased':
      return note('given back by its worker')
    case 'RetryScheduled':
      return note(`again in ${event.data.delayMs / 1_000} s: ${event.data.errorCode}: ${event.data.errorSummary}`, 'yellow')
    case 'JobRetried':
      return note(`retried ${eventDetails(event)}`)
    case 'PauseRequested':
      return note(`pause asked ${eventDetails(event)}`)
    case 'JobPausing':
      if (event.data.reason === 'user' || event.data.reason === 'budget_exhausted') return null
      return note(`pausing: ${eventDetails(event).replaceAll('_', ' ')}`, 'yellow')
    case 'JobResumed':
      return note(`resumed ${eventDetails(event)}`)
    case 'CancellationRequested':
      return note(`cancel asked ${eventDetails(event)}`)
    case 'JobFailed':
      return note(`failed: ${eventDetails(event)}`, 'red')
    case 'CheckpointInvalidated':
      return note(`stored file of ${eventDetails(event)}`, 'red')
    case 'ProviderCallSettled':
      if (event.data.overrun) return note(`call ${event.data.call} billed above its worst case: ${dollarsText(event.data.costUsd)}`, 'red')
      return event.data.usageInvalid ? note(`call ${event.data.call}: usage that cannot be, charged at its worst case`, 'yellow') : null
    case 'ProviderCallFailed': {
      const { call, errorCode, errorSummary, delayMs } = event.data
      const again = delayMs === undefined ? '' : `, again in ${delayMs / 1_000} s`
      return note(`call ${call} failed${again}: ${errorCode}: ${errorSummary}`, 'yellow')
    }
    case 'ProviderCallOrphaned':
      return note(eventDetails(event), 'yellow')
    case 'ProviderCallReconciled':
      return note(`reconciled ${eventDetails(event)}`)
    case 'BudgetExhausted':
      return note(`no room in ${eventDetails(event)}`, 'yellow')
    case 'BudgetRaised':
      return note(`raised: ${eventDetails(event)}`)
    default:
      return null
  }
}
