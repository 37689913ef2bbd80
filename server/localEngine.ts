import { InvalidInputError, JobStateError } from '../domain/errors.ts'
import { JobId, jobStream } from '../domain/ids.ts'
import type { Command, PeoplesCommand } from '../domain/job/commands.ts'
import { type JobDocument, jobDocument } from '../domain/job/document.ts'
import { isTerminal, type Job } from '../domain/job/job.ts'
import { readEvent } from '../domain/job/readEvent.ts'
import { zeroUsd } from '../domain/money.ts'
import { nearest } from '../domain/nearest.ts'
import type { ArtifactStore } from '../domain/ports/artifactStore.ts'
import type { Clock } from '../domain/ports/clock.ts'
import type { Random } from '../domain/ports/random.ts'
import type { ViewStore } from '../domain/ports/viewStore.ts'
import { isRejection } from '../domain/rejection.ts'
import { costLedger } from '../projections/costLedger.ts'
import { handle } from './command/handle.ts'
import { catchUp, type JobLoading, type LoadedJob, loadJob } from './command/loadJob.ts'
import { raised } from './command/raise.ts'
import type { Asker, Engine, ProjectionCheck, Submission } from './engine.ts'
import type { Estimating } from './estimate/estimateJob.ts'
import { findJob } from './findJob.ts'
import { outputFilesOf, outputOf } from './jobOutput.ts'
import { liveEvents } from './liveEvents.ts'
import { pageOfJobs } from './jobPages.ts'
import { projectOf } from './projectOf.ts'
import type { Projector } from './projector/projector.ts'
import { projections } from './projector/projections.ts'
import { readLimits } from './readLimits.ts'
import { prepareJob, type PreparedJob, type Submitting } from './submit.ts'

export type LocalEngineDeps = JobLoading & {
  readonly views: ViewStore
  readonly artifacts: ArtifactStore
  readonly clock: Clock
  readonly random: Random
  readonly projector: Projector
  readonly submitting: Omit<Submitting, 'artifacts' | 'sha256' | 'now'>
  readonly estimating: Omit<Estimating, 'provider' | 'pace'>
  /** Told whenever the store cannot take a command; it is asked again. */
  onTrouble?(): void
  /** Tells people what they may want to know, and what nothing depends on. */
  notice(message: string): void
  close(): Promise<void>
}

type Unstamped<C> = C extends unknown ? Omit<C, 'commandId' | 'actor' | 'at'> : never

const eventsPageDefault = 100
const eventsPageMax = 1_000

/** The engine on a store of this process. */
export const localEngine = (deps: LocalEngineDeps): Engine => {
  const { events, views, artifacts, clock, random, sha256, projector } = deps

  const stamp = (asker: Asker = {}) => ({
    commandId: asker.commandId ?? random.id(),
    actor: asker.actor ?? 'user',
    at: new Date(clock.now()).toISOString(),
  })

  const current = async (): Promise<ViewStore> => {
    await projector.catchUp()
    return views
  }

  const resolve = async (given: string, projectIds?: readonly string[]): Promise<JobId> => {
    const whole = JobId.safeParse(given)
    const [first] = whole.success ? await events.readStream(jobStream(whole.data), { limit: 1 }) : []
    const isThere = first !== undefined && (projectIds === undefined || projectIds.includes(projectOf(readEvent(first))))
    return whole.success && isThere ? whole.data : findJob(await current(), given, projectIds)
  }

  const existing = async (given: string): Promise<LoadedJob & { job: Job }> => {
    const loaded = await loadJob(deps, await resolve(given))
    if (loaded.job === null) throw new JobStateError('job_not_found', `there is no job "${given}"`, { handle: given })
    return { ...loaded, job: loaded.job }
  }

  const prepare = (submission: Submission): PreparedJob =>
    prepareJob({ ...deps.submitting, artifacts, sha256, now: clock.now() }, submission)

  // Who looks for a job looks what it would cost next, and files may be large.
  const looked = new WeakMap<Submission, PreparedJob>()
  const prepareToLook = (submission: Submission): PreparedJob => {
    const prepared = looked.get(submission) ?? prepare({ ...submission, estimatedCostUsd: null })
    looked.set(submission, prepared)
    return prepared
  }

  const nameUnfinished = async (jobId: JobId, definitionVersion: number): Promise<void> => {
    const { job } = await loadJob(deps, jobId)
    if (job === null || isTerminal(job.state)) return
    deps.notice(
      `job ${jobId} of the same input is ${job.state}, under version ${job.spec.definitionVersion} of its definition: ` +
        `what is submitted now is another job, under version ${definitionVersion}`,
    )
  }

  const command = async (jobId: JobId, wish: Unstamped<PeoplesCommand>, asker?: Asker): Promise<JobDocument> => {
    const stamped: Command = { ...wish, ...stamp(asker) }
    const { outcomes, loaded } = await handle(deps, jobId, [stamped])
    const [outcome] = outcomes
    if (outcome !== undefined && isRejection(outcome)) throw raised(outcome)
    if (loaded.job === null) throw new Error(`job ${jobId} is empty behind ${wish.type}`)
    const isNew = wish.type === 'SubmitJob' && outcome !== undefined && outcome.events.length > 0
    return jobDocument(loaded.job, !isNew)
  }

  return {
    async submit(submission, asker) {
      const prepared = prepare(submission)
      const before = await loadJob(deps, prepared.jobId)
      if (before.job === null) {
        for (const jobId of prepared.earlier) await nameUnfinished(jobId, prepared.spec.definitionVersion)
        await prepared.store()
      }
      return command(prepared.jobId, { type: 'SubmitJob', spec: prepared.spec }, asker)
    },
    async find(submission) {
      const { job } = await loadJob(deps, prepareToLook(submission).jobId)
      return job === null ? null : jobDocument(job)
    },
    async estimate(submission, projectIds) {
      const [{ estimateJob }, { paceOf }] = await Promise.all([import('./estimate/estimateJob.ts'), import('./estimate/pace.ts')])
      const prepared = prepareToLook(submission)
      const { job } = await loadJob(deps, prepared.jobId)
      const pace: Estimating['pace'] = async (provider, model) => paceOf(await current(), { provider, model, projectIds })
      return { ...(await estimateJob({ ...deps.estimating, provider: deps.submitting.provider, pace }, prepared)), existing: job !== null }
    },
    status: async (given) => jobDocument((await existing(given)).job),
    list: async (query) => pageOfJobs(await current(), query, sha256),

    async events(given, page = {}) {
      const jobId = await resolve(given)
      const { afterRevision = -1, limit = eventsPageDefault } = page
      if (!Number.isSafeInteger(limit) || limit < 1 || limit > eventsPageMax) {
        throw new InvalidInputError(`limit ${limit} is not a whole number from 1 to ${eventsPageMax}`, { limit })
      }
      const stored = await events.readStream(jobStream(jobId), { from: afterRevision + 1, limit: limit + 1 })
      const items = stored.slice(0, limit).map(readEvent)
      return { items, nextCursor: stored.length > limit ? String(items.at(-1)?.revision) : null }
    },

    pause: async (given, asker) => command(await resolve(given), { type: 'PauseJob' }, asker),
    resume: async (given, limits, asker) =>
      command(await resolve(given), { type: 'ResumeJob', ...(limits === undefined ? {} : { limits: readLimits(limits) }) }, asker),
    cancel: async (given, asker) => command(await resolve(given), { type: 'CancelJob' }, asker),
    retry: async (given, asker) => command(await resolve(given), { type: 'RetryJob' }, asker),
    raiseBudget: async (given, limits, asker) =>
      command(await resolve(given), { type: 'RaiseBudget', limits: readLimits(limits) }, asker),

    async reconcile(given, reconciliation, asker) {
      const { job, jobId } = await existing(given)
      const { call, billed, note } = reconciliation
      const held = job.holds[call]
      const worst = billed ? held?.worstCase : undefined
      const booked = {
        costUsd: (billed ? reconciliation.costUsd : zeroUsd) ?? worst?.costUsd ?? zeroUsd,
        inputTokens: reconciliation.inputTokens ?? worst?.inputTokens ?? 0,
        outputTokens: reconciliation.outputTokens ?? worst?.outputTokens ?? 0,
      }
      return command(jobId, { type: 'ReconcileCall', call, billed, note, ...booked }, asker)
    },

    async ledger(given) {
      const jobId = await resolve(given)
      const ledger = costLedger()
      await eachEvent(events, jobId, (event) => ledger.add(event))
      return { lines: ledger.lines(), totals: ledger.totals() }
    },

    async audit(given) {
      const { auditJob } = await import('./audit/auditJob.ts')
      return auditJob({ events, artifacts, sha256 }, await resolve(given))
    },
    async verifyLog(options) {
      const { verifyLog } = await import('./audit/verifyLog.ts')
      return verifyLog({ events, artifacts, sha256 }, options)
    },

    async projections() {
      await projector.catchUp()
      return projector.status()
    },
    async rebuild(names, progress) {
      for (const name of named(names)) {
        await projector.rebuild(name, {
          onProgress: (built) => progress?.({ name, events: built.events }),
        })
      }
      return projector.status()
    },
    async verifyProjections(names) {
      await projector.catchUp()
      const checks: ProjectionCheck[] = []
      for (const name of named(names)) checks.push(await projector.verify(name))
      return checks
    },

    async *follow(given, signal) {
      const after = await events.head()
      let loaded: LoadedJob = await existing(given)
      let shown = -1
      const filter = { streamPrefix: jobStream(loaded.jobId) }
      for await (const _ of events.subscribe({ after, filter, signal })) {
        loaded = await catchUp(events, loaded)
        if (loaded.job === null || loaded.revision === shown) continue
        shown = loaded.revision
        yield jobDocument(loaded.job)
        if (isTerminal(loaded.job.state) || loaded.job.state === 'paused') return
      }
    },

    outputFiles: async (given) => outputFilesOf(deps, (await existing(given)).job),
    async *output(given) {
      const { job } = await existing(given)
      yield* outputOf(deps, job)
    },
    async *live({ jobId, ...query }, signal) {
      yield* liveEvents(events, { ...query, jobId: jobId === undefined ? undefined : await resolve(jobId) }, signal)
    },
    putFile: (projectId, content) => artifacts.put(projectId, content),
    getFile: (projectId, hash) => artifacts.get(projectId, hash),
    resolve,
    close: () => deps.close(),
  }
}

/** The projections meant: all of them where none is named. Raises `InvalidInputError` for one that is not there. */
const named = (names: readonly string[]): readonly string[] => {
  const known = projections.all.map((projection) => projection.name)
  for (const name of names) {
    if (known.includes(name)) continue
    const close = nearest(name, known)
    throw new InvalidInputError(
      `there is no projection "${name}"${close === null ? '' : `: did you mean "${close}"?`} (known: ${known.join(', ')})`,
      { projection: name, known },
    )
  }
  return names.length === 0 ? known : names
}

const eachEvent = async (
  events: JobLoading['events'],
  jobId: JobId,
  see: (event: ReturnType<typeof readEvent>) => void,
): Promise<void> => {
  for (let from = 0; ; ) {
    const page = await events.readStream(jobStream(jobId), { from })
    const last = page.at(-1)
    if (last === undefined) return
    for (const stored of page) see(readEvent(stored))
    from = last.revision + 1
  }
}
