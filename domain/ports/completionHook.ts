import type { JobDocument } from '../job/document.ts'

/** What an ending is called outside, by the event that it is. */
export const endingTypes = {
  JobSucceeded: 'job.succeeded',
  JobFailed: 'job.failed',
  JobCancelled: 'job.cancelled',
  JobPaused: 'job.paused',
} as const

/** A job has ended or paused. */
export type Ending = {
  /** Of the event that says so: the same whenever it is told again. */
  readonly eventId: string
  readonly type: (typeof endingTypes)[keyof typeof endingTypes]
  /** ISO 8601 UTC, by the clock of whoever ended it. */
  readonly at: string
  /** The job as that event left it, whatever became of it since. */
  readonly job: JobDocument
}

/** What came of telling once. */
export type HookAnswer = {
  readonly taken: boolean
  /** Fit for a log line: short, and without secrets. Empty where there is nothing to say. */
  readonly said: string
  /** The wait that was asked for before another try; null where none was. */
  readonly askedMs: number | null
}

/** Whoever is told that a job has ended or paused. */
export interface CompletionHook {
  /** Endings are delivered once a kind: processes whose hook is of one kind share them. */
  readonly kind: 'command' | 'webhook'
  /** For log lines: holds no secret. */
  readonly title: string
  /**
   * Tells once: no retry inside. Answers within a minute, and soon after `signal` has aborted; then the ending is not
   * taken. Rejects only by a fault.
   */
  tell(ending: Ending, signal: AbortSignal): Promise<HookAnswer>
}
