import { LeaseLostError, StoreUnavailable } from '../../domain/errors.ts'
import type { JobId } from '../../domain/ids.ts'
import type { PlacedEvent } from '../../domain/job/events.ts'
import type { Job } from '../../domain/job/job.ts'
import type { ArtifactStore } from '../../domain/ports/artifactStore.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { Provider } from '../../domain/ports/provider.ts'
import type { Random } from '../../domain/ports/random.ts'
import type { JobLoading, LoadedJob } from '../command/loadJob.ts'
import type { JobDefinition } from '../defineJob.ts'
import type { Telemetry } from '../telemetry.ts'
import { announceStop } from './announceStop.ts'
import { ContentMissing } from './contents.ts'
import type { Desk } from './desk.ts'
import { endAttempt, type Worked } from './endAttempt.ts'
import type { Gate } from './gate.ts'
import { indexPast } from './indexPast.ts'
import { jobIndex } from './jobIndex.ts'
import { jobWriter } from './jobWriter.ts'
import { keepDuration, keepLease } from './keepLease.ts'
import { openCalls } from './openCalls.ts'
import { openDesk } from './openDesk.ts'
import { patiently } from './patiently.ts'
import { runStages } from './runStages.ts'
import { stopping as newStopping, type Stopping } from './stopping.ts'
import { waits } from './waits.ts'

/** What every attempt of a worker shares. */
export type Workshop = JobLoading & {
  readonly artifacts: ArtifactStore
  readonly clock: Clock
  readonly random: Random
  readonly telemetry: Telemetry
  readonly workerId: string
  /** The definition that can work this job here, or null. */
  definitionOf(job: Job): JobDefinition | null
  providerOf(job: Job): Provider | null
  /** Limits of this process for a provider, for all its jobs together. */
  processGate(provider: string): Gate
  readonly callTimeoutMs: number
  /** How long open calls may take to end once the job is drained or cancelled. */
  readonly drainMs: number
}

export type Claim = {
  readonly jobId: JobId
  /** The job as it was right behind the claim: started. */
  readonly loaded: LoadedJob
  readonly token: number
  /** Our monotonic clock when the claim was issued. */
  readonly claimedAt: number
}

/** An attempt under way, as its worker sees it. */
export type Attempt = {
  readonly jobId: JobId
  /** Somebody else wrote to the job: look. */
  nudge(): void
  /** Resolves once the job is not worked here any more. Never rejects. */
  readonly ended: Promise<void>
}

/**
 * Works a started job until it has ended, is given back, or is lost: one stage after the other, then the end. Whatever
 * happens, the log says how far it came; a fault of this program ends the attempt and leaves the lease to expire.
 */
export const attempt = (shop: Workshop, claim: Claim, drain: AbortSignal): Attempt => {
  const stopping = newStopping()
  const over = new AbortController()
  const index = jobIndex()
  const calls = openCalls()
  const onTrouble = (error: StoreUnavailable): void => shop.telemetry.trouble('store', error)
  const ask: Desk['ask'] = (read) => patiently({ clock: shop.clock, onTrouble }, stopping.abandon, read)

  const waiting = waits(shop.clock, stopping)
  /** Events that came while those before them were still being read. */
  const early: PlacedEvent[] = []
  let isIndexed = false
  const note = (event: PlacedEvent): void => {
    index.note(event)
    if (event.type === 'ProviderCallSettled' || event.type === 'ProviderCallFailed') calls.noteEnd()
  }

  const writer = jobWriter(
    {
      ...shop,
      onTrouble,
      note: (event) => (isIndexed ? note(event) : void early.push(event)),
      changed() {
        lookForRequests()
        // A raised limit or a reconciled call may have made room.
        calls.noteEnd()
      },
      onLost() {
        shop.telemetry.leaseLost(claim.jobId, claim.token)
        stopping.stop({ kind: 'lost' })
      },
    },
    claim.loaded,
    { token: claim.token, workerId: shop.workerId, claimedAt: claim.claimedAt },
    stopping.abandon,
  )

  const lookForRequests = (): void => {
    const { cancellationRequestedAt, pauseRequestedAt, resumeRequested } = writer.job
    if (cancellationRequestedAt !== null) stopping.stop({ kind: 'cancel' })
    else if (pauseRequestedAt !== null && !resumeRequested) stopping.stop({ kind: 'pause' })
  }

  const run = async (): Promise<void> => {
    const onFailure = (error: unknown): void => report(`renewing the lease of job ${claim.jobId}`, error)
    // From the first moment: a long past, or a store that is away, may take longer to read than a lease lasts.
    void keepLease({ writer, clock: shop.clock, waits: waiting, said }, over.signal, onFailure)
    const isBehind = await indexPast({ ...shop, ask }, { jobId: claim.jobId, until: claim.loaded.revision }, note)
    isIndexed = true
    early.forEach(note)
    // Whoever wrote between our claim and its answer told nobody.
    if (isBehind) nudge()
    shop.telemetry.attemptStarted(writer.job)
    const worked = await work()
    await calls.allEnded()
    await endAttempt({ writer, stopping, random: shop.random, said }, worked)
    shop.telemetry.attemptEnded(writer.job)
  }

  const said: Desk['said'] = { progress: undefined }

  const work = async (): Promise<Worked> => {
    try {
      const definition = shop.definitionOf(writer.job)
      if (definition === null) throw new Error(`no definition of ${writer.job.spec.type} can work job ${claim.jobId}`)
      const desk = await openDesk(shop, { jobId: claim.jobId, writer, index, calls, stopping, said, ask, waits: waiting })
      stopping.onStop(() => {
        calls.noteEnd()
        announceStop(desk)
        if (stopping.reason?.kind === 'cancel') void cutInTime(shop, stopping, over.signal)
      })
      lookForRequests()
      void keepDuration(desk, over.signal)
      await Promise.race([runStages(desk, definition), givenUp(shop, desk, over.signal)])
      return 'done'
    } catch (error) {
      if (error instanceof ContentMissing) {
        const detail = `artifact ${error.ref.sha256}, which the job needs, is ${error.reason}: restore it, then resume`
        stopping.stop({ kind: 'artifact_missing', detail })
      }
      stopping.stop({ kind: 'failed' })
      return { error }
    }
  }

  const drainNow = (): void => {
    stopping.stop({ kind: 'drain' })
    void leaveInTime(shop, stopping, over.signal)
  }
  drain.addEventListener('abort', drainNow, { once: true })
  if (drain.aborted) drainNow()

  // Only a process that is to end stops waiting for a store: that is no fault of this program.
  const report = (what: string, error: unknown): void => {
    if (error instanceof StoreUnavailable) onTrouble(error)
    else shop.telemetry.fault(what, error)
  }

  const nudge = (): void => {
    void writer.catchUp().catch((error: unknown) => report(`reading job ${claim.jobId}`, error))
  }

  return {
    jobId: claim.jobId,
    nudge,
    ended: run()
      .catch((error: unknown) => {
        // Also lost is what was sent behind our own end of the job, by whoever had not heard of it.
        if (stopping.reason?.kind === 'lost' || error instanceof LeaseLostError) return
        report(`attempt of job ${claim.jobId}`, error)
      })
      .finally(() => {
        drain.removeEventListener('abort', drainNow)
        over.abort()
      }),
  }
}

/** Open calls have a while to end once the job is to stop; then they are cut, and held. */
const cutInTime = async (shop: Workshop, stopping: Stopping, over: AbortSignal): Promise<void> => {
  await shop.clock.sleep(shop.drainMs * 0.8, over)
  if (!over.aborted) stopping.cut()
}

/**
 * A process that is to end also gives up on stores that are away, whatever else the job stops for: what it could not
 * record is held once its lease has expired.
 */
const leaveInTime = async (shop: Workshop, stopping: Stopping, over: AbortSignal): Promise<void> => {
  await cutInTime(shop, stopping, over)
  await shop.clock.sleep(shop.drainMs * 0.1, over)
  if (!over.aborted) stopping.giveUp()
}

/** A stage that does not end even when its calls were cut is left alone: it can record nothing any more. */
const givenUp = (shop: Workshop, desk: Desk, over: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const cut = (): void => void shop.clock.sleep(shop.drainMs * 0.1, over).then(resolve)
    if (desk.stopping.hard.aborted) cut()
    else desk.stopping.hard.addEventListener('abort', cut, { once: true })
  })
