import { bytesOf } from '../../domain/appendRules.ts'
import { jobStream } from '../../domain/ids.ts'
import type { Command } from '../../domain/job/commands.ts'
import { decide } from '../../domain/job/decide.ts'
import { type EventMeta, type PlacedEvent, schemaVersions } from '../../domain/job/events.ts'
import { fold } from '../../domain/job/evolve.ts'
import type { Sha256 } from '../../domain/ports/hash.ts'
import { appendBytesMax, type SealedEvent } from '../../domain/ports/eventStore.ts'
import { isRejection, reject, type Rejection } from '../../domain/rejection.ts'
import { seal, type Unsealed } from '../../domain/seal.ts'
import type { LoadedJob } from './loadJob.ts'

/** What came of one command: its events (none for a repeat), or why not. */
export type Outcome = { readonly events: readonly PlacedEvent[] } | Rejection

export type InTurn = {
  /** One for each command that was judged; the others did not fit into the append any more. */
  readonly outcomes: readonly Outcome[]
  /** To be appended behind the job's last revision, in one append. */
  readonly sealed: readonly SealedEvent[]
  /** The job once they are in the log. */
  readonly next: LoadedJob
}

/**
 * Judges commands one after the other, each against the job as those before it will have left it. All their events
 * go into one append, which never grows over the portable limit: the commands behind that are left for the next.
 */
export const decideInTurn = (loaded: LoadedJob, commands: readonly Command[], sha256: Sha256): InTurn => {
  const stream = jobStream(loaded.jobId)
  const outcomes: Outcome[] = []
  const unsealed: Unsealed[] = []
  let { job, revision } = loaded
  let bytes = 0
  for (const command of commands) {
    if (loaded.unknown !== null) {
      outcomes.push(newerSchema(loaded))
      continue
    }
    const decision = decide(command, job)
    if (isRejection(decision)) {
      outcomes.push(decision)
      continue
    }
    const projectId = command.type === 'SubmitJob' ? command.spec.projectId : (job?.spec.projectId ?? '')
    const placed = decision.map((event, index): PlacedEvent & { jobId: LoadedJob['jobId'] } => ({
      ...event,
      jobId: loaded.jobId,
      revision: revision + 1 + index,
      recordedAt: command.at,
      meta: metaOf(command, event, projectId),
    }))
    const texts = placed.map(
      (event): Unsealed => ({
        stream,
        revision: event.revision,
        type: event.type,
        schemaVersion: schemaVersions[event.type],
        recordedAt: event.recordedAt,
        data: JSON.stringify(event.data),
        meta: JSON.stringify(event.meta),
      }),
    )
    const added = texts.reduce((sum, text) => sum + bytesOf(text), 0)
    if (unsealed.length > 0 && bytes + added > appendBytesMax) break
    bytes += added
    unsealed.push(...texts)
    revision += placed.length
    job = fold(job, placed)
    outcomes.push({ events: placed })
  }
  const sealed = seal(unsealed, loaded.hash, sha256)
  return { outcomes, sealed, next: { ...loaded, job, revision, hash: sealed.at(-1)?.hash ?? loaded.hash } }
}

const metaOf = (command: Command, event: { type: string; data: object }, projectId: string): EventMeta => {
  const meta = { projectId, actor: command.actor, commandId: command.commandId }
  if ('token' in command && command.type !== 'ExpireLease') return { ...meta, leaseToken: command.token }
  // A claim is the first thing its owner writes.
  if (event.type === 'JobLeased' && 'token' in event.data && typeof event.data.token === 'number') {
    return { ...meta, leaseToken: event.data.token }
  }
  return meta
}

const newerSchema = (loaded: LoadedJob): Rejection =>
  reject(
    'newer_schema',
    `job ${loaded.jobId} has an event that this program does not know ` +
      `(${loaded.unknown?.storedType} version ${loaded.unknown?.schemaVersion} at revision ${loaded.unknown?.revision}): ` +
      `use a newer program to go on with it`,
    { jobId: loaded.jobId, type: loaded.unknown?.storedType, revision: loaded.unknown?.revision },
  )
