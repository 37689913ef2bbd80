import type { JobDocument } from '../../domain/job/document.ts'
import { isTerminal } from '../../domain/job/job.ts'
import type { Workplace } from '../engine.ts'
import type { Call } from './call.ts'
import { interruption } from './interruption.ts'

export const isAtRest = (job: JobDocument): boolean => isTerminal(job.state) || job.state === 'paused'

/** Has the hooks told of a job that has come to rest, and waits for that: for a minute at most, or until a signal. */
export const tellEnd = async (workplace: Pick<Workplace, 'tellEnd'>, job: JobDocument, { shell, config }: Call): Promise<void> => {
  if (!isAtRest(job) || (config.onEnd === undefined && config.webhook === undefined)) return
  const stop = interruption(shell, 'Not waiting any longer for whoever is told of the end.')
  try {
    await workplace.tellEnd(job.jobId, stop.signal)
  } finally {
    stop.end()
  }
}
