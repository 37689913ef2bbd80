import type { JobState } from '../domain/job/job.ts'
import { type Usd, zeroUsd } from '../domain/money.ts'
import { jobList, type ListedJob } from './jobList.ts'
import type { LogEvent } from './projection.ts'
import { sentenceOf } from './timelineSentence.ts'

/** What one event meant for its job, for people. */
export type TimelineEntry = {
  readonly revision: number
  readonly position: string
  readonly recordedAt: string
  readonly type: string
  /** Who wrote it; null where this program cannot tell. */
  readonly actor: string | null
  /** One sentence without a full stop. */
  readonly text: string
  /** After the event, with the stage at work; null while there is no job. */
  readonly state: JobState | null
  readonly hasChangedState: boolean
  readonly stage: string | null
  /** After the event. */
  readonly spentCostUsd: Usd
  readonly heldCostUsd: Usd
  readonly reservedCostUsd: Usd
}

/** A send as later events of it are told. */
export type ToldCall = { readonly key: string; readonly provider: string; readonly model: string }

/**
 * The fold of one job's events, in order from the first, into what happened. It keeps the calls that are open or
 * held, and nothing else that grows.
 */
export type JobTimeline = { add(event: LogEvent): TimelineEntry }

export const jobTimeline = (): JobTimeline => {
  let job: ListedJob | null = null
  const calls = new Map<number, ToldCall>()

  return {
    add: (event) => {
      const before: ListedJob | null = job
      job = jobList.project(before, event)
      if (event.type === 'ProviderCallReserved') calls.set(event.data.call, event.data)
      const text = sentenceOf(event, { before, after: job, callOf: (call) => calls.get(call) ?? null })
      for (const call of calls.keys()) {
        if (job?.fold.open[call] === undefined && job?.fold.holds[call] === undefined) calls.delete(call)
      }
      return {
        revision: event.revision,
        position: event.position,
        recordedAt: event.recordedAt,
        type: event.type === 'Unknown' ? event.storedType : event.type,
        actor: event.type === 'Unknown' ? null : event.meta.actor,
        text,
        state: job?.state ?? null,
        hasChangedState: job?.state !== before?.state,
        stage: job?.stage ?? null,
        spentCostUsd: job?.spentCostUsd ?? zeroUsd,
        heldCostUsd: job?.heldCostUsd ?? zeroUsd,
        reservedCostUsd: job?.reservedCostUsd ?? zeroUsd,
      }
    },
  }
}
