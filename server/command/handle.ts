import { RevisionConflict, type StoreUnavailable } from '../../domain/errors.ts'
import { jobStream, type JobId } from '../../domain/ids.ts'
import type { Command } from '../../domain/job/commands.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import { appendDefinitely } from './appendDefinitely.ts'
import { decideInTurn, type Outcome } from './decideInTurn.ts'
import { type JobLoading, type LoadedJob, loadJob } from './loadJob.ts'
import { withPatience } from './withPatience.ts'

export type Handling = JobLoading & {
  readonly clock: Clock
  /** Told whenever the store cannot answer; it is asked again. */
  onTrouble?(error: StoreUnavailable): void
}

export type Handled = {
  /** One a command, in their order. */
  readonly outcomes: readonly Outcome[]
  readonly loaded: LoadedJob
}

/**
 * Load, decide, seal, append; again when somebody else was first, at most `attemptsMax` times, after which
 * `RevisionConflict` is raised. All events of the commands land in one append or not at all. `StoreUnavailable` is
 * raised when the store has given no definite answer for half a minute: the command may have been recorded.
 */
export const handle = async (
  handling: Handling,
  jobId: JobId,
  commands: readonly Command[],
  options: { attemptsMax?: number } = {},
): Promise<Handled> => {
  const { attemptsMax = 5 } = options
  for (let attempt = 1; ; attempt += 1) {
    const loaded = await loadJob(handling, jobId)
    const { outcomes, sealed, next } = decideInTurn(loaded, commands, handling.sha256)
    if (sealed.length === 0) return { outcomes, loaded }
    const expected = loaded.revision === -1 ? 'no-stream' : loaded.revision
    try {
      await withPatience(handling.clock, (signal) =>
        appendDefinitely(handling, { stream: jobStream(jobId), sealed, expected }, signal),
      )
      return { outcomes, loaded: next }
    } catch (error) {
      if (!(error instanceof RevisionConflict) || attempt === attemptsMax) throw error
    }
  }
}
