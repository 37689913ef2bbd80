import { LeaseLostError, RevisionConflict, type StoreUnavailable } from '../../domain/errors.ts'
import { jobStream } from '../../domain/ids.ts'
import type { OwnersCommand } from '../../domain/job/commands.ts'
import type { JobEvent, PlacedEvent } from '../../domain/job/events.ts'
import type { Job } from '../../domain/job/job.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { Random } from '../../domain/ports/random.ts'
import { isRejection, reject, type Rejection } from '../../domain/rejection.ts'
import { appendDefinitely } from '../command/appendDefinitely.ts'
import { decideInTurn, type InTurn, type Outcome } from '../command/decideInTurn.ts'
import { catchUp, type JobLoading, type LoadedJob, saveSnapshot, snapshotEvery } from '../command/loadJob.ts'
import { patiently } from './patiently.ts'

/** An owner's command before the writer adds who, when and by what right. */
export type Wish = WithoutStamp<OwnersCommand>
type WithoutStamp<C> = C extends OwnersCommand ? Omit<C, 'commandId' | 'actor' | 'at' | 'token'> : never

/**
 * The only writer of a claimed job in this process: what its parallel calls record is decided in order and appended
 * in groups, none while an earlier append is unanswered.
 */
export type JobWriter = {
  /** The job as the log has it, as far as this writer knows. */
  readonly job: Job
  readonly revision: number
  readonly token: number
  /**
   * Resolves once the events are durable. Raises `LeaseLostError` when somebody else owns the job. With `isMeant` the
   * wish is refused (`job_state`) where the job, as it is when its turn comes, makes it pointless.
   */
  send(wish: Wish, isMeant?: (job: Job) => boolean): Promise<Outcome>
  /** Like `send`, for what no rule refuses: raises an `Error` if one does. */
  record(wish: Wish): Promise<readonly PlacedEvent[]>
  /** Reads what others wrote meanwhile. */
  catchUp(): Promise<void>
  /** Our clock when the last acknowledged append was issued: how fresh our right to the job is. */
  readonly freshAt: number
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal
}

export type Writing = JobLoading & {
  readonly clock: Clock
  readonly random: Random
  /** Called with each event of the job in order, ours and others'. */
  note(event: PlacedEvent): void
  /** Called when somebody else's event, or the end of the lease, changed the job. */
  changed(): void
  onTrouble(error: StoreUnavailable): void
  onLost(): void
}

type Waiting = {
  readonly wish: Wish
  readonly commandId: string
  readonly isMeant: (job: Job) => boolean
  resolve(outcome: Outcome): void
  reject(error: unknown): void
}

export const jobWriter = (
  writing: Writing,
  claimed: LoadedJob,
  owner: { token: number; workerId: string; claimedAt: number },
  abandon: AbortSignal,
): JobWriter => {
  const { clock, random, sha256, events } = writing
  const { token } = owner
  const lost = new AbortController()
  const waiting: Waiting[] = []
  let loaded = claimed
  let freshAt = owner.claimedAt
  let snapshotAt = claimed.revision
  let turn: Promise<void> = Promise.resolve()
  /** We have ended our ownership ourselves: what comes too late for it is nobody's loss. */
  let gaveAway = false

  const currentJob = (): Job => {
    if (loaded.job === null) throw new Error(`job ${loaded.jobId} is claimed and empty`)
    return loaded.job
  }

  const lose = (): void => {
    if (lost.signal.aborted) return
    lost.abort()
    if (!gaveAway) writing.onLost()
  }
  const leaseLost = (): LeaseLostError =>
    new LeaseLostError('lease_lost', `job ${loaded.jobId} is not owned with token ${token} any more`, {
      jobId: loaded.jobId,
      token,
    })

  const readOn = async (): Promise<void> => {
    const before = loaded.revision
    const noted: JobEvent[] = []
    loaded = await patiently(writing, abandon, () => {
      noted.length = 0
      return catchUp(events, loaded, (event) => void noted.push(event))
    })
    noted.forEach(writing.note)
    if (loaded.unknown !== null || currentJob().lease?.token !== token) lose()
    if (loaded.revision !== before) writing.changed()
  }

  const appendGroup = async (): Promise<void> => {
    for (const each of [...waiting]) {
      if (each.isMeant(currentJob())) continue
      waiting.splice(waiting.indexOf(each), 1)
      each.resolve(reject('job_state', `${each.wish.type} has lost its reason`, { jobId: loaded.jobId }))
    }
    const group = [...waiting]
    if (lost.signal.aborted) {
      waiting.length = 0
      for (const each of group) each.reject(leaseLost())
      return
    }
    const at = new Date(clock.now()).toISOString()
    const commands = group.map(({ wish, commandId }) => ({
      ...wish,
      commandId,
      actor: `worker:${owner.workerId}`,
      at,
      token,
    }))
    let decided: InTurn
    try {
      decided = decideInTurn(loaded, commands, sha256)
    } catch (error) {
      // The first cannot be recorded, whatever stands behind it: its sender alone is told.
      waiting.shift()?.reject(error)
      return
    }
    const { outcomes, sealed, next } = decided
    if (sealed.length > 0) {
      const issuedAt = clock.monotonic()
      const append = { stream: jobStream(loaded.jobId), sealed, expected: loaded.revision }
      try {
        await appendDefinitely({ events, clock, onTrouble: writing.onTrouble }, append, abandon)
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error
        await readOn()
        return
      }
      freshAt = issuedAt
      loaded = next
      gaveAway = currentJob().lease?.token !== token
    }
    waiting.splice(0, outcomes.length)
    for (const outcome of outcomes) if (!isRejection(outcome)) outcome.events.forEach(writing.note)
    snapshotSometimes()
    outcomes.forEach((outcome, index) => {
      if (isRejection(outcome) && outcome.rejected === 'lease_lost') {
        lose()
        group[index]?.reject(leaseLost())
      } else group[index]?.resolve(outcome)
    })
  }

  const snapshotSometimes = (): void => {
    if (loaded.revision - snapshotAt < snapshotEvery) return
    snapshotAt = loaded.revision
    // Only a saving of time: nobody waits for it, and a store of views that is away must not stop the work.
    void saveSnapshot(writing, loaded).catch(() => {})
  }

  const run = async (): Promise<void> => {
    // What is sent in the same turn of the event loop goes into one append.
    await Promise.resolve()
    while (waiting.length > 0) {
      try {
        await appendGroup()
      } catch (error) {
        const group = waiting.splice(0)
        for (const each of group) each.reject(error)
      }
    }
  }

  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const next = turn.then(work)
    turn = next.catch(() => {})
    return next
  }

  const send = (wish: Wish, isMeant: (job: Job) => boolean = () => true): Promise<Outcome> =>
    new Promise((resolve, fail) => {
      waiting.push({ wish, isMeant, commandId: random.id(), resolve, reject: fail })
      if (waiting.length === 1) void inTurn(run)
    })

  return {
    get job() {
      return currentJob()
    },
    get revision() {
      return loaded.revision
    },
    get freshAt() {
      return freshAt
    },
    token,
    lost: lost.signal,
    send,
    async record(wish) {
      const outcome = await send(wish)
      if (isRejection(outcome)) throw refusedRecord(wish, outcome)
      return outcome.events
    },
    catchUp: () => inTurn(readOn),
  }
}

const refusedRecord = (wish: Wish, rejection: Rejection): Error =>
  new Error(`${wish.type} was refused (${rejection.rejected}): ${rejection.message}`)
