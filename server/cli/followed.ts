import type { JobDocument } from '../../domain/job/document.ts'
import type { Engine } from '../engine.ts'
import { interruption } from './interruption.ts'
import { jobShown, type ScreenCall } from './jobShown.ts'

/** Waits, with progress on stderr, until others have brought the job to its end or it has paused. */
export const followed = async (engine: Engine, submitted: JobDocument, call: ScreenCall): Promise<JobDocument> => {
  const stop = interruption(call.shell, 'Waiting no longer: the job goes on.')
  const shown = jobShown(engine, call)
  let last = submitted
  try {
    for await (const job of engine.follow(submitted.jobId, stop.signal)) {
      last = { ...job, existing: submitted.existing }
      shown.show(last)
    }
  } finally {
    await shown.end()
    stop.end()
  }
  return last
}
