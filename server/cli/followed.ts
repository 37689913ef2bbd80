import type { JobDocument } from '../../domain/job/document.ts'
import type { Engine } from '../engine.ts'
import type { Call } from './call.ts'
import { interruption } from './interruption.ts'
import { progressLine } from './progressLine.ts'

/** Waits, with progress on stderr, until others have brought the job to its end or it has paused. */
export const followed = async (engine: Engine, submitted: JobDocument, call: Call): Promise<JobDocument> => {
  const stop = interruption(call.shell, 'Waiting no longer: the job goes on.')
  const line = progressLine(call.shell.stderr)
  let last = submitted
  try {
    for await (const job of engine.follow(submitted.jobId, stop.signal)) {
      last = { ...job, existing: submitted.existing }
      line.show(last)
    }
  } finally {
    line.end()
    stop.end()
  }
  return last
}
