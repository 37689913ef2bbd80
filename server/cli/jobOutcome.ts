import type { JobDocument } from '../../domain/job/document.ts'
import { type ExitCode, exitCode } from './exitCode.ts'

/** What `run`, `watch` and `submit --wait` exit with. A job still at work was left by a signal. */
export const outcomeOf = (job: JobDocument): ExitCode => {
  switch (job.state) {
    case 'succeeded':
      return exitCode.done
    case 'failed':
      return exitCode.failed
    case 'paused':
      return exitCode.paused
    case 'cancelled':
      return exitCode.cancelled
    default:
      return exitCode.interrupted
  }
}
