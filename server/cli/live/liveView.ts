import type { JobDocument } from '../../../domain/job/document.ts'
import type { JobEvent, Progress, UnknownEvent } from '../../../domain/job/events.ts'
import { type Note, noteOf } from './noteOf.ts'
import { noPace, type Pace, paced } from './pace.ts'

/** What there is to see of a job: its document, and what only its events tell. */
export type LiveView = {
  readonly job: JobDocument
  /** Of the last event that was seen; -1 before the first. */
  readonly revision: number
  /** How long stages took, of those whose end was seen. */
  readonly stageMs: ReadonlyMap<string, number>
  /** Of the stage at work. */
  readonly progress: Progress | null
  readonly pace: Pace
  /** The last few, oldest first. */
  readonly notes: readonly Note[]
}

const notesMax = 20

export const viewOf = (job: JobDocument): LiveView => ({
  job,
  revision: -1,
  stageMs: new Map(),
  progress: job.progress,
  pace: noPace,
  notes: [],
})

/** The view as it would be behind that revision, without what lies between. */
export const skippedTo = (view: LiveView, revision: number): LiveView => ({
  ...view,
  revision,
  progress: view.job.progress,
  pace: noPace,
})

export const withEvents = (view: LiveView, events: readonly (JobEvent | UnknownEvent)[], nowMs: number): LiveView =>
  events.reduce((before, event) => withEvent(before, event, nowMs), view)

const withEvent = (view: LiveView, event: JobEvent | UnknownEvent, nowMs: number): LiveView => {
  const note = noteOf(event)
  const notes = note === null ? view.notes : [...view.notes, note].slice(-notesMax)
  const next = { ...view, notes, revision: event.revision }
  if (event.type === 'Unknown') return next
  switch (event.type) {
    case 'StageCompleted': {
      const stageMs = new Map(view.stageMs).set(event.data.stage, event.data.durationMs)
      return { ...next, stageMs, progress: null, pace: noPace }
    }
    case 'CheckpointInvalidated':
      return { ...next, progress: null, pace: noPace }
    case 'JobStarted':
      // The time before it was nobody's work.
      return { ...next, pace: noPace }
    default: {
      const progress = 'progress' in event.data ? event.data.progress : undefined
      if (progress === undefined) return next
      const pace = paced(view.pace, { atMs: Date.parse(event.recordedAt), done: progress.done }, nowMs)
      return { ...next, progress, pace }
    }
  }
}
