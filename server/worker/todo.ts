import type { JobId } from '../../domain/ids.ts'
import type { CommandOf } from '../../domain/job/commands.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { Presence } from '../../domain/ports/presence.ts'
import type { ViewDocument, ViewStore } from '../../domain/ports/viewStore.ts'
import { allOpenLeases, OpenLease, openLeases } from '../../projections/openLeases.ts'
import { ReadyJob, readyJobs, readyJobsOfType } from '../../projections/readyJobs.ts'
import { allBackoffs, startingLater, WakeUp, wakeUps } from '../../projections/wakeUps.ts'
import { standing } from './standing.ts'

type Unstamped<C> = C extends unknown ? Omit<C, 'commandId' | 'actor' | 'at'> : never

/** A job that something is due for: what has to be recorded first, before it may be claimed. */
export type Due = {
  readonly jobId: JobId
  /** Which state of affairs this is about: a later one has another mark. */
  readonly mark: string
  readonly first: Unstamped<CommandOf<'ExpireLease' | 'ElapseBackoff'>> | null
}

/** What is due, as far as the views tell. The log has the last word: a command that comes too late is refused there. */
export type Todo = {
  /** Jobs of these types that may be claimed, best first. */
  claimEligible(types: readonly string[], limit: number): Promise<readonly Due[]>
  /** Leases whose owner was silent for their whole length, or whose process is gone. */
  lapsedLeases(): Promise<readonly Due[]>
  /** Waits that are over; of those for a first start only jobs of these types. */
  elapsedWaits(types: readonly string[]): Promise<readonly Due[]>
  /**
   * Milliseconds until the soonest backoff is over that the last look has seen; Infinity without one. Jobs whose
   * waits were drawn apart are so started apart, and not together at the next look.
   */
  nextWaitMs(): number
  /** After a fault of a store: observe everything anew. */
  forget(): void
}

const lookAtMost = 500

export const todo = (deps: {
  readonly views: ViewStore
  readonly clock: Clock
  /** Where one machine is all there is: tells which processes are gone. Null where nobody can tell. */
  readonly presence: Presence | null
  readonly workerId: string
  /** True for a job that this process is at work on: its lease is never ended from here. */
  isMine(jobId: JobId): boolean
}): Todo => {
  const { views, clock } = deps
  const leases = standing(clock)
  const waits = standing(clock)
  const startedAt = clock.now()
  let nextWaitAt = Infinity

  const ownersGone = async (owners: ReadonlySet<string>): Promise<ReadonlySet<string>> => {
    const { presence } = deps
    if (presence === null) return new Set()
    const gone = new Set<string>()
    for (const owner of owners) if (owner !== deps.workerId && (await presence.isGone(owner))) gone.add(owner)
    return gone
  }

  return {
    async claimEligible(types, limit) {
      const lists = await Promise.all(
        types.map((type) => views.query(readyJobs.name, readyJobs.version, { term: readyJobsOfType(type), limit })),
      )
      const ready = lists.flat().sort(inListOrder).slice(0, limit)
      return ready.map((document): Due => {
        const job = ReadyJob.parse(JSON.parse(document.value))
        return { jobId: job.jobId, mark: `ready ${job.revision}`, first: null }
      })
    },

    async lapsedLeases() {
      const open = (await wholeList(views, openLeases, allOpenLeases))
        .map((document) => OpenLease.parse(JSON.parse(document.value)))
        .filter((lease) => !deps.isMine(lease.jobId))
      leases.keep(new Set(open.map((lease) => lease.jobId)))
      const gone = await ownersGone(new Set(open.map((lease) => lease.owner)))
      return open.flatMap((lease): Due[] => {
        const { jobId, token, ownerRevision, leaseMs, owner } = lease
        const mark = `lease ${token} ${ownerRevision}`
        const silentMs = leases.standsMs(jobId, mark)
        if (!gone.has(owner) && silentMs < leaseMs) return []
        const reason = gone.has(owner) ? 'owner_gone' : 'expired'
        return [{ jobId, mark, first: { type: 'ExpireLease', token, ownerRevision, reason } }]
      })
    },

    async elapsedWaits(types) {
      // In order of when they end by their writers' clocks. A start that is due is due by anybody's clock, but only
      // for who can make it.
      const terms = [allBackoffs, ...types.map(startingLater)]
      const lists = await Promise.all(
        terms.map((term) => views.query(wakeUps.name, wakeUps.version, { term, limit: lookAtMost })),
      )
      const waiting = lists.flat().map((document) => WakeUp.parse(JSON.parse(document.value)))
      waits.keep(new Set(waiting.map((wait) => wait.jobId)))
      nextWaitAt = Infinity
      return waiting.flatMap((wait): Due[] => {
        const { jobId, revision, delayMs, recordedAt, reason, at } = wait
        const mark = `wait ${revision}`
        if (reason === 'start_after') {
          return Date.parse(at) <= clock.now() ? [{ jobId, mark, first: null }] : []
        }
        // One machine has one wall clock, so what passed before we looked counts too.
        const already = deps.presence === null ? 0 : Math.max(0, Math.min(startedAt, clock.now()) - Date.parse(recordedAt))
        const leftMs = delayMs - waits.standsMs(jobId, mark, already)
        if (leftMs > 0) {
          nextWaitAt = Math.min(nextWaitAt, clock.monotonic() + leftMs)
          return []
        }
        return [{ jobId, mark, first: { type: 'ElapseBackoff', retryRevision: revision } }]
      })
    },

    nextWaitMs: () => nextWaitAt - clock.monotonic(),

    forget() {
      nextWaitAt = Infinity
      leases.forget()
      waits.forget()
    },
  }
}

/** As many as there are: one for each job that somebody is working. */
const wholeList = async (
  views: ViewStore,
  { name, version }: { readonly name: string; readonly version: number },
  term: string,
): Promise<readonly ViewDocument[]> => {
  const all: ViewDocument[] = []
  for (;;) {
    const last = all.at(-1)
    const after = last === undefined ? {} : { after: { sort: last.sort, key: last.key } }
    const page = await views.query(name, version, { term, limit: lookAtMost, ...after })
    all.push(...page)
    if (page.length < lookAtMost) return all
  }
}

const inListOrder = (left: ViewDocument, right: ViewDocument): number =>
  left.sort < right.sort ? -1 : left.sort > right.sort ? 1 : left.key < right.key ? -1 : 1
