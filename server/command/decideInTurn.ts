import { bytesOf } from '../../domain/appendRules.ts'
import { AppendTooLarge, InvalidInputError } from '../../domain/errors.ts'
import { jobStream } from '../../domain/ids.ts'
import type { Command } from '../../domain/job/commands.ts'
import { decide } from '../../domain/job/decide.ts'
import { eventData, EventMeta, type PlacedEvent, schemaVersions } from '../../domain/job/events.ts'
import { fold } from '../../domain/job/evolve.ts'
import type { Job } from '../../domain/job/job.ts'
import type { Sha256 } from '../../domain/ports/hash.ts'
import { appendBytesMax, type SealedEvent } from '../../domain/ports/eventStore.ts'
import { isRejection, reject, type Rejection } from '../../domain/rejection.ts'
import { seal, type Unsealed } from '../../domain/seal.ts'
import type { LoadedJob } from './loadJob.ts'

/** What came of one command: its events (none for a repeat), or why not. */
export type Outcome = { readonly events: readonly PlacedEvent[] } | Rejection

export type InTurn = {
  /** One for each command that was judged; the others are left for the next append. */
  readonly outcomes: readonly Outcome[]
  /** To be appended behind the job's last revision, in one append. */
  readonly sealed: readonly SealedEvent[]
  /** The job once they are in the log. */
  readonly next: LoadedJob
}

/**
 * Judges commands one after the other, each against the job as those before it will have left it. All their events
 * go into one append, which never grows over the portable limit: the commands behind that are left for the next.
 *
 * Nothing that could not be read again is written. A command that would is left for the next append too, so that it
 * takes none of the others with it; when it is the first, `InvalidInputError` or `AppendTooLarge` is raised.
 */
export const decideInTurn = (loaded: LoadedJob, commands: readonly Command[], sha256: Sha256): InTurn => {
  const outcomes: Outcome[] = []
  const unsealed: Unsealed[] = []
  let { job, revision } = loaded
  let bytes = 0
  for (const command of commands) {
    if (loaded.unknown !== null) {
      outcomes.push(newerSchema(loaded))
      continue
    }
    let judged: Judged
    try {
      judged = judge({ jobId: loaded.jobId, job, revision }, command)
    } catch (error) {
      if (outcomes.length > 0) break
      throw error
    }
    if (isRejection(judged)) {
      outcomes.push(judged)
      continue
    }
    const { placed, texts } = judged
    const added = texts.reduce((sum, text) => sum + bytesOf(text), 0)
    if (outcomes.length > 0 && bytes + added > appendBytesMax) break
    if (added > appendBytesMax) throw new AppendTooLarge(jobStream(loaded.jobId), added, appendBytesMax)
    bytes += added
    unsealed.push(...texts)
    revision += placed.length
    job = judged.job
    outcomes.push({ events: placed })
  }
  const sealed = seal(unsealed, loaded.hash, sha256)
  return { outcomes, sealed, next: { ...loaded, job, revision, hash: sealed.at(-1)?.hash ?? loaded.hash } }
}

type Placed = PlacedEvent & { readonly jobId: LoadedJob['jobId'] }
type Judged = Rejection | { readonly placed: readonly Placed[]; readonly texts: readonly Unsealed[]; readonly job: Job | null }

const judge = (before: Pick<LoadedJob, 'jobId' | 'job' | 'revision'>, command: Command): Judged => {
  const { jobId, job, revision } = before
  const decision = decide(command, job)
  if (isRejection(decision)) return decision
  const projectId = command.type === 'SubmitJob' ? command.spec.projectId : (job?.spec.projectId ?? '')
  const placed = decision.map((event, index): Placed => ({
    ...event,
    jobId,
    revision: revision + 1 + index,
    recordedAt: command.at,
    meta: metaOf(command, event, projectId),
  }))
  for (const event of placed) refuseUnreadable(event)
  const texts = placed.map((event) => ({
    stream: jobStream(jobId),
    revision: event.revision,
    type: event.type,
    schemaVersion: schemaVersions[event.type],
    recordedAt: event.recordedAt,
    data: JSON.stringify(event.data),
    meta: JSON.stringify(event.meta),
  }))
  return { placed, texts, job: fold(job, placed) }
}

/** An event that its own schema refuses would make its job unreadable for ever. */
const refuseUnreadable = (event: PlacedEvent): void => {
  const data = eventData[event.type].safeParse(event.data)
  const meta = EventMeta.safeParse(event.meta)
  const [issue] = [...(data.error?.issues ?? []), ...(meta.error?.issues ?? [])]
  if (issue === undefined) return
  const path = issue.path.map(String).join('.')
  throw new InvalidInputError(`${event.type} cannot be recorded: ${path}: ${issue.message}`, { type: event.type, path })
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
