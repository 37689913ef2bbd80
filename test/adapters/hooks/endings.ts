import { type JobDocument, jobDocument } from '../../../domain/job/document.ts'
import type { Ending } from '../../../domain/ports/completionHook.ts'
import { event } from '../../support/controls.ts'
import { given } from '../../support/given.ts'

const paused = (): JobDocument => {
  const { job } = given(event.JobSubmitted(), event.PauseRequested(), event.JobPaused())
  if (job === null) throw new Error('these events make no job')
  return jobDocument(job)
}

/** Control: a job that was paused before anybody claimed it. */
export const ending = (over: Partial<Ending> = {}): Ending => ({
  eventId: '0b6fd1a8-7c53-8f2a-9d3e-5a1c2b3d4e5f',
  type: 'job.paused',
  at: '2026-01-01T00:00:02.000Z',
  job: paused(),
  ...over,
})

export const never = new AbortController().signal
