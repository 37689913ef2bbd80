import { setMaxListeners } from 'node:events'
import { StoreUnavailable } from '../../domain/errors.ts'
import type { JobId } from '../../domain/ids.ts'
import { jobOfStream, jobStreamPrefix } from '../../domain/ids.ts'
import { isTerminal } from '../../domain/job/job.ts'
import type { Presence } from '../../domain/ports/presence.ts'
import type { ViewStore } from '../../domain/ports/viewStore.ts'
import { loadJob } from '../command/loadJob.ts'
import { type Attempt, attempt, type Workshop } from './attempt.ts'
import { take, type Taken } from './claim.ts'
import { type Due, type Ready, todo as newTodo } from './todo.ts'

export type WorkerOptions = {
  readonly slots: number
  readonly leaseMs: number
  /** Job types that this process has a definition of. */
  readonly types: readonly string[]
  /** Until nothing is due any more. */
  readonly once: boolean
  /** Work this job alone. */
  readonly only: JobId | null
}

/** What a worker needs of the views: that they are kept current, and to hear when they were. */
export type Views = {
  readonly store: ViewStore
  /** Has the views read what is in the log now. */
  catchUp(signal: AbortSignal): Promise<void>
  /** Calls back when this process has learnt of jobs that are ready. Answers how to stop that. */
  onReady(listener: () => void): () => void
}

/** Between two looks at what others may have changed. */
const idleMs = 200
/** Between two looks at leases and waits: they last seconds. */
const observeMs = 100

/** Before another try after a fault. */
const troubleMs = 1_000

/** Events by which others tell the owner of a job something. */
const forOwners = [
  'PauseRequested',
  'JobResumed',
  'CancellationRequested',
  'BudgetRaised',
  'LeaseExpired',
  'ProviderCallReconciled',
]

/**
 * Claims what is due for all free slots, works it, and looks again; ends leases and waits that are over, also for
 * jobs it cannot run. All it knows stands in the log and its views, so it may be killed anywhere.
 *
 * Resolves when `signal` has aborted and everything at work is drained, or, with `once` or `only`, when there is
 * nothing left to do.
 */
export const worker = async (
  shop: Workshop,
  views: Views,
  presence: Presence | null,
  options: WorkerOptions,
  signal: AbortSignal,
): Promise<void> => {
  const { clock, telemetry } = shop
  // Each job at work listens, and any number of slots is fine: no leak to warn of.
  setMaxListeners(0, signal)
  const active = new Map<JobId, Attempt>()
  /** What was tried in vain, or is done and may still stand in a view: by job, which state of affairs it was. */
  const triedReady = new Map<JobId, string>()
  const triedDue = new Map<JobId, string>()
  const over = new AbortController()
  const todo = newTodo({
    views: views.store,
    clock,
    presence,
    workerId: shop.workerId,
    isMine: (jobId) => active.has(jobId),
  })
  let wake = (): void => {}
  let woken = false
  let observedAt = -Infinity
  let contended = false

  const rouse = (): void => {
    woken = true
    wake()
  }
  const idle = async (ms: number): Promise<void> => {
    if (!woken && !signal.aborted) {
      const sleep = new AbortController()
      // A reason of our own: making the default one costs more than the rest of the wake-up.
      wake = () => sleep.abort('woken')
      await clock.sleep(ms, sleep.signal)
    }
    woken = false
  }

  const begin = (claim: Parameters<typeof attempt>[1]): void => {
    telemetry.claimed(claim.jobId, claim.token)
    const begun = attempt(shop, claim, signal)
    active.set(claim.jobId, begun)
    void begun.ended.then(() => {
      active.delete(claim.jobId)
      rouse()
    })
  }

  const isForUs = (due: Due): boolean => options.only === null || due.jobId === options.only

  /** A job that cannot even be read must not keep the others waiting. */
  const takeOne = async (due: Due, hasSlot: boolean): Promise<Taken> => {
    try {
      return await take(shop, due, { hasSlot, leaseMs: options.leaseMs }, signal)
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error
      telemetry.fault(`claiming job ${due.jobId}`, error)
      return 'nothing'
    }
  }

  /** True when something was done. */
  const takeAll = async (dues: readonly Due[], tried: Map<JobId, string>): Promise<boolean> => {
    let did = false
    for (const due of dues) {
      if (signal.aborted) return did
      if (!isForUs(due) || active.has(due.jobId) || tried.get(due.jobId) === due.mark) continue
      const hasSlot = active.size < options.slots
      if (due.first === null && !hasSlot) return did
      tried.set(due.jobId, due.mark)
      const taken = await takeOne(due, hasSlot)
      if (typeof taken === 'object') begin(taken.claim)
      if (taken === 'lost') {
        // Whoever was first may only have said something to the job, and left it as due as it was.
        tried.delete(due.jobId)
        telemetry.claimLost(due.jobId)
        contended = true
      }
      did ||= taken !== 'nothing'
    }
    return did
  }

  const lookOnce = async (): Promise<boolean> => {
    let did = false
    if (clock.monotonic() - observedAt >= observeMs || todo.nextWaitMs() <= 0) {
      observedAt = clock.monotonic()
      const dues = [...(await todo.lapsedLeases()), ...(await todo.elapsedWaits(options.types))]
      retain(triedDue, new Set(dues.map((due) => due.jobId)))
      did = await takeAll(dues, triedDue)
    }
    if (options.only !== null) return (await takeAll(await dueIfQueued(options.only), triedReady)) || did
    return (await fillSlots()) || did
  }

  /** Until no slot is free, or there is no job left that was not tried. */
  const fillSlots = async (): Promise<boolean> => {
    let did = false
    if (triedReady.size > triedMax) triedReady.clear()
    const isPassedOver = ({ jobId, mark }: Due): boolean => active.has(jobId) || triedReady.get(jobId) === mark
    for (;;) {
      const free = options.slots - active.size
      if (free <= 0 || signal.aborted) return did
      const { ready, all } = await todo.claimEligible(options.types, free * 2, isPassedOver)
      if (all !== null) retain(triedReady, all)
      if (ready.length === 0) return did
      const inOrder = contended ? rotated(ready, shop.workerId) : ready
      contended = false
      did = (await takeAll(inOrder, triedReady)) || did
    }
  }

  const dueIfQueued = async (jobId: JobId): Promise<readonly Due[]> => {
    const { job, revision } = await loadJob(shop, jobId)
    return job?.state === 'queued' ? [{ jobId, mark: `ready ${revision}`, first: null }] : []
  }

  const nothingLeft = async (): Promise<boolean> => {
    if (active.size > 0) return false
    if (options.only !== null) {
      const { job } = await loadJob(shop, options.only)
      return job === null || isTerminal(job.state) || job.state === 'paused'
    }
    if (!options.once) return false
    await views.catchUp(signal)
    observedAt = -Infinity
    return !(await lookOnce()) && active.size === 0
  }

  const listen = async (): Promise<void> => {
    const filter = { streamPrefix: jobStreamPrefix, types: forOwners }
    while (!over.signal.aborted) {
      try {
        const after = await shop.events.head()
        // What was written before we listened is seen by looking.
        for (const each of active.values()) each.nudge()
        for await (const delivery of shop.events.subscribe({ after, filter, signal: over.signal })) {
          const jobId = delivery.kind === 'event' ? jobOfStream(delivery.event.stream) : null
          if (jobId !== null) active.get(jobId)?.nudge()
        }
      } catch (error) {
        // While the log is away no owner can show that it lives: nobody's silence counts.
        todo.forget()
        if (error instanceof StoreUnavailable) telemetry.trouble('listening to the log', error)
        else telemetry.fault('listening to the log', error)
      }
      await clock.sleep(troubleMs, over.signal)
    }
  }

  const withdraw = await announce(presence, shop.workerId)
  const unlisten = views.onReady(rouse)
  signal.addEventListener('abort', rouse)
  const listening = listen()
  try {
    while (!signal.aborted) {
      try {
        const did = await lookOnce()
        if (!did && (await nothingLeft())) break
        if (!did) await idle(Math.max(1, Math.ceil(Math.min(idleMs, todo.nextWaitMs()))))
      } catch (error) {
        if (error instanceof StoreUnavailable) telemetry.trouble('store', error)
        else telemetry.fault('looking for work', error)
        todo.forget()
        triedReady.clear()
        triedDue.clear()
        await clock.sleep(troubleMs, signal)
      }
    }
    await Promise.all([...active.values()].map((each) => each.ended))
  } finally {
    unlisten()
    signal.removeEventListener('abort', rouse)
    over.abort()
    await listening
    await withdraw()
  }
}

const triedMax = 10_000

const retain = (tried: Map<JobId, string>, there: ReadonlySet<JobId>): void => {
  for (const jobId of tried.keys()) if (!there.has(jobId)) tried.delete(jobId)
}

/**
 * So that workers who meet at the same list do not all try for the same job again: each begins elsewhere, but always
 * among the jobs of the highest priority.
 */
export const rotated = (ready: readonly Ready[], workerId: string): readonly Ready[] => {
  const sum = Array.from(workerId).reduce((total, character) => total + (character.codePointAt(0) ?? 0), 0)
  const [first] = ready
  const others = ready.findIndex((each) => each.priority !== first?.priority)
  const equal = others === -1 ? ready : ready.slice(0, others)
  const start = equal.length === 0 ? 0 : sum % equal.length
  return [...equal.slice(start), ...equal.slice(0, start), ...ready.slice(equal.length)]
}

const announce = (presence: Presence | null, workerId: string): Promise<() => Promise<void>> =>
  presence === null ? Promise.resolve(async () => {}) : presence.announce(workerId)
