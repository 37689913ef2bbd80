import type { StoreUnavailable } from '../domain/errors.ts'
import type { JobId } from '../domain/ids.ts'
import type { Job } from '../domain/job/job.ts'

/** What the runtime tells about itself, in one place. The logic says what happened; how it is shown is decided here. */
export interface Telemetry {
  claimed(jobId: JobId, token: number): void
  /** Another worker was first. */
  claimLost(jobId: JobId): void
  /** A job is ready that this process cannot work. Told once for each time it becomes ready. */
  notRunnable(jobId: JobId, why: string): void
  attemptStarted(job: Job): void
  attemptEnded(job: Job): void
  /** Our writes to the job are refused: somebody else owns it. */
  leaseLost(jobId: JobId, token: number): void
  /** A lease was ended because its owner was silent or gone. */
  leaseExpired(jobId: JobId, token: number, reason: string): void
  /** A store cannot answer now; it is asked again. Told often, shown once for each spell. */
  trouble(what: string, error: StoreUnavailable): void
  /** Something that must not happen did. The same again and again is shown once for each spell. */
  fault(what: string, error: unknown): void
  info(message: string): void
  /** For whoever gave the command: nothing went wrong, and they may want to know. */
  notice(message: string): void
}

export type LogLine = { readonly level: 'info' | 'warn' | 'error'; readonly message: string }

/** Spells of trouble with a pause shorter than this are one spell. */
const spellMs = 30_000
const spellsMax = 1_000

/** Telemetry as log lines, one for each thing that a person may want to act on. */
export const loggedTelemetry = (write: (line: LogLine) => void, monotonic: () => number): Telemetry => {
  const spells = new Map<string, number>()
  const isNews = (what: string): boolean => {
    const last = spells.get(what)
    if (spells.size >= spellsMax) spells.clear()
    spells.set(what, monotonic())
    return last === undefined || monotonic() - last >= spellMs
  }
  return {
    claimed: (jobId, token) => write({ level: 'info', message: `claimed job ${jobId} (token ${token})` }),
    claimLost: () => {},
    notRunnable: (jobId, why) => write({ level: 'warn', message: `cannot work job ${jobId} here: ${why}` }),
    attemptStarted: (job) =>
      write({ level: 'info', message: `started job ${job.jobId} at stage ${job.spec.stages[job.stageIndex] ?? 'end'}` }),
    attemptEnded: (job) => write({ level: 'info', message: `left job ${job.jobId} ${job.state}` }),
    leaseLost: (jobId, token) =>
      write({ level: 'warn', message: `lost job ${jobId}: writes with token ${token} are refused, its calls are cut` }),
    leaseExpired: (jobId, token, reason) =>
      write({ level: 'warn', message: `ended the lease of job ${jobId} (token ${token}): ${reason}` }),
    trouble(what, error) {
      if (isNews(what)) write({ level: 'error', message: `${what}: ${error.message}; waiting for it` })
    },
    fault(what, error) {
      const message = `fault: ${what}: ${error instanceof Error ? error.message : String(error)}`
      if (isNews(message)) write({ level: 'error', message })
    },
    info: (message) => write({ level: 'info', message }),
    notice: (message) => write({ level: 'warn', message }),
  }
}

export const silentTelemetry: Telemetry = {
  claimed: () => {},
  claimLost: () => {},
  notRunnable: () => {},
  attemptStarted: () => {},
  attemptEnded: () => {},
  leaseLost: () => {},
  leaseExpired: () => {},
  trouble: () => {},
  fault: () => {},
  info: () => {},
  notice: () => {},
}
