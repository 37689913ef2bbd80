import { EngineError, StoreUnavailable } from '../../domain/errors.ts'
import { type JobId, jobStream } from '../../domain/ids.ts'
import type { RaisedLimits } from '../../domain/job/events.ts'
import { isTerminal, type Job } from '../../domain/job/job.ts'
import { usd } from '../../domain/money.ts'
import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import type { Asker, Engine } from '../../server/engine.ts'
import type { Chance } from './chance.ts'
import type { JobRecord } from './jobRecord.ts'
import type { Plan } from './plans.ts'
import type { Scheduler } from './scheduler.ts'
import type { Trace } from './trace.ts'
import type { Watch } from './watch.ts'

/** No cap anywhere. */
const ampleLimits: RaisedLimits = {
  maximumCostUsd: null,
  maximumCalls: null,
  maximumInputTokens: null,
  maximumOutputTokens: null,
  maximumDurationSeconds: null,
  maximumExamples: null,
}

export type People = {
  /** Submits every plan, one way or another; and now and then somebody wants something. */
  begin(): void
  /** Somebody who sees an event land may want something at once. */
  heard(event: StoredEvent): void
  /** Submits what is not there, and answers what jobs have paused for, so that every job can end. */
  steward(): void
  /** Nothing is left to be answered. */
  isDone(): boolean
}

/** Events after which a job is to be claimed. */
const makesReady: ReadonlySet<string> = new Set(['JobSubmitted', 'JobResumed', 'JobRetried', 'LeaseExpired', 'LeaseReleased'])

type Wish = (engine: Engine, asker: Asker) => Promise<unknown>

const againMsMax = 2_000
const givingUpAfter = 60

export const people = (deps: {
  readonly chance: Chance
  readonly scheduler: Scheduler
  readonly trace: Trace
  readonly watch: Watch
  readonly plans: readonly Plan[]
  /** How long the storm lasts. */
  readonly stormMs: number
  isStormy(): boolean
  /** Some process that can be spoken to. */
  someEngine(): Engine
}): People => {
  const { chance, scheduler, trace, watch, plans } = deps
  const eagerness = chance.one([0, 0.02, 0.1])
  let asked = 0

  /** Asks, and asks again with the same command id while the store is away. */
  const ask = (what: string, asker: Asker, wish: Wish, tries = 0): void => {
    wish(deps.someEngine(), asker).then(
      () => {
        trace.note(`people: ${what} done`)
        watch.count(`people: ${what.split(' ')[0]}`)
      },
      (error: unknown) => {
        if (!(error instanceof EngineError)) {
          watch.broken('peopleHearNoFaults', `${what} raised ${error instanceof Error ? error.stack : String(error)}`)
          return
        }
        trace.note(`people: ${what} refused: ${error.code}`)
        watch.count(`refused: ${error.code}`)
        const isWorthIt = error instanceof StoreUnavailable || error.code === 'revision_conflict'
        if (isWorthIt && tries < givingUpAfter) {
          scheduler.after(chance.between(10, againMsMax), () => ask(what, asker, wish, tries + 1))
        }
      },
    )
  }

  /** Once, or several times under the same id, from whatever processes. */
  const want = (what: string, wish: Wish): void => {
    asked += 1
    const asker = { actor: 'ann', commandId: `wish-${asked}` }
    trace.note(`people: ${what}`)
    const times = chance.hits(0.2) ? chance.whole(2, 3) : 1
    for (let time = 0; time < times; time += 1) {
      scheduler.after(time === 0 ? 0 : chance.between(0, againMsMax), () => ask(what, asker, wish))
    }
  }

  const submit = (plan: Plan): void => want('submit', (engine, asker) => engine.submit(plan.submission, asker))

  const more = (job: Job): RaisedLimits => {
    if (chance.hits(0.3)) return ampleLimits
    const { maximumCalls, maximumExamples, maximumDurationSeconds } = job.limits
    return {
      ...(job.limits.maximumCostUsd === null ? {} : { maximumCostUsd: usd(50_000_000_000n) }),
      ...(maximumCalls === null ? {} : { maximumCalls: maximumCalls + 2 }),
      ...(maximumExamples === null ? {} : { maximumExamples: maximumExamples + 2 }),
      ...(maximumDurationSeconds === null ? {} : { maximumDurationSeconds: maximumDurationSeconds + 3 }),
    }
  }

  /** A person looks into the provider's books, once these are definite, and says what they say. */
  const reconcile = (record: JobRecord): boolean => {
    const held = [...record.calls.values()].filter((call) => call.state === 'held')
    const known = held.filter((call) => record.keys.get(call.callKey)?.sends.every((send) => send.isDecided))
    const [call] = chance.shuffled(known)
    if (call === undefined) return false
    // A key that was taken over is billed by whichever of its sends the provider carried out.
    const isOnlyOne = (record.keys.get(call.callKey)?.calls ?? []).filter((each) => each.countedNanoUsd > 0n).length === 1
    const sends = isOnlyOne ? (record.keys.get(call.callKey)?.sends ?? []) : call.send === null ? [] : [call.send]
    const billed = sends.reduce((sum, send) => sum + send.billedNanoUsd, 0n)
    want(`reconcile ${call.call}`, (engine, asker) =>
      engine.reconcile(
        record.jobId,
        { call: call.call, billed: billed > 0n, ...(billed > 0n ? { costUsd: usd(billed) } : {}) },
        asker,
      ),
    )
    return true
  }

  const meddleWith = (record: JobRecord, job: Job): void => {
    const id: JobId = record.jobId
    chance.one<() => void>([
      () => want('pause', (engine, asker) => engine.pause(id, asker)),
      () => want('pause', (engine, asker) => engine.pause(id, asker)),
      () => want('resume', (engine, asker) => engine.resume(id, undefined, asker)),
      () => want('resume', (engine, asker) => engine.resume(id, more(job), asker)),
      () => want('resume', (engine, asker) => engine.resume(id, more(job), asker)),
      () => {
        if (chance.hits(0.25)) want('cancel', (engine, asker) => engine.cancel(id, asker))
      },
      () => want('retry', (engine, asker) => engine.retry(id, asker)),
      () => want('raise', (engine, asker) => engine.raiseBudget(id, more(job), asker)),
      () => void reconcile(record),
      () => submit(chance.one(plans)),
      () => want('status', (engine) => engine.status(id.slice(0, 12))),
      () => want('list', (engine) => engine.list({})),
      () => want('ledger', (engine) => engine.ledger(id)),
    ])()
  }

  const attend = (record: JobRecord): void => {
    const { job, jobId } = record
    if (job === null) return
    if (isRetried(job)) {
      return want('retry', (engine, asker) => engine.retry(jobId, asker))
    }
    if (job.state !== 'paused') return
    if (job.pauseReason === 'unknown_outcome' && Object.keys(job.holds).length > 0) return void reconcile(record)
    const limits = chance.hits(0.5) ? ampleLimits : more(job)
    want('resume', (engine, asker) => engine.resume(jobId, limits, asker))
  }

  /** What must work at once when nothing goes wrong: a word in the very moment of a claim, and a pause. */
  const askInCalm = ({ jobId }: JobRecord, type: string): void => {
    if (makesReady.has(type) && chance.hits(0.5)) {
      scheduler.after(chance.between(2, 14), () =>
        want('raise', (engine, asker) => engine.raiseBudget(jobId, ampleLimits, asker)),
      )
    }
    if (type === 'JobStarted' && chance.hits(0.1)) {
      scheduler.after(chance.between(0, 2_000), () => want('pause', (engine, asker) => engine.pause(jobId, asker)))
    }
  }

  const meddle = (perMinute: number): void => {
    scheduler.after(chance.between(0.3, 1.7) * (60_000 / perMinute), () => {
      if (!deps.isStormy()) return
      const record = chance.shuffled([...watch.records.values()])[0]
      if (record !== undefined && record.job !== null) meddleWith(record, record.job)
      meddle(perMinute)
    })
  }

  return {
    begin() {
      for (const plan of plans) {
        const at = chance.between(0, chance.one([1_000, deps.stormMs]))
        const submitters = chance.hits(0.3) ? 2 : 1
        for (let each = 0; each < submitters; each += 1) scheduler.after(at + chance.between(0, 5), () => submit(plan))
      }
      meddle(chance.between(5, 90))
    },

    heard(event) {
      const record = [...watch.records.values()].find(({ jobId }) => event.stream === jobStream(jobId))
      if (record === undefined || record.job === null) return
      if (!deps.isStormy()) askInCalm(record, event.type)
      else if (chance.hits(eagerness)) meddleWith(record, record.job)
    },

    steward() {
      const submitted = new Set([...watch.records.values()].map(({ job }) => job?.spec.idempotencyKey))
      for (const plan of plans) if (!submitted.has(plan.submission.idempotencyKey)) submit(plan)
      for (const record of watch.records.values()) attend(record)
    },

    isDone: () => [...watch.records.values()].every(({ job }) => job !== null && isTerminal(job.state) && !isRetried(job)),
  }
}

/** Whatever failed is tried again once by hand, where that is allowed. */
const isRetried = (job: Job): boolean =>
  job.state === 'failed' && job.error?.kind !== 'policy_block' && job.retryCount === 0
