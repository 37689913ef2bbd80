import { expect } from 'vitest'
import type { Command } from '../../domain/job/commands.ts'
import { decide } from '../../domain/job/decide.ts'
import type { Job } from '../../domain/job/job.ts'
import { isRejection, type RejectionCode } from '../../domain/rejection.ts'
import { again, type GivenEvent } from './controls.ts'
import { follow, historyOf, place, told } from './histories.ts'

type Outcome = {
  /** The job once these events are in the log. */
  readonly job: Job
}

export type Judged = {
  /** Exactly these events happen, the log may hold them, and the same command once more is quiet. */
  thenHappens(...events: readonly GivenEvent[]): Outcome
  thenRejected(code: RejectionCode, details?: object): void
  /** A success that writes nothing. */
  thenNothing(): void
}

/**
 * A job with this history. An impossible history is refused, so that no test begins in a state that no log has.
 * Who wrote an event follows from the history; give `{ token }` where that is the subject.
 */
export const given = (
  ...events: readonly GivenEvent[]
): { readonly job: Job | null; when(command: Command): Judged } => {
  const job = follow(null, historyOf(events))
  return { job, when: (command) => judged(job, command) }
}

const judged = (job: Job | null, command: Command): Judged => {
  const decision = decide(command, job)
  const happened = () => {
    if (isRejection(decision)) throw new Error(`rejected as ${decision.rejected}: ${decision.message}`)
    return decision
  }
  return {
    thenHappens: (...events) => {
      expect(told(happened())).toEqual(told(events))
      const next = follow(job, place(job, command, happened()))
      if (next === null) throw new Error('these events make no job')
      expect(decide(again(command), next), 'the same command once more').toEqual([])
      return { job: next }
    },
    thenRejected: (code, details = {}) => {
      expect(decision).toMatchObject({ rejected: code, details })
    },
    thenNothing: () => {
      expect(told(happened())).toEqual([])
    },
  }
}
