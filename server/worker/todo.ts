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

export type Ready = Due & { readonly priority: number }

/** What is due, as far as the views tell. The log has the last word: a command that comes too late is refused there. */
export type Todo = {
  /**
   * So many jobs of these types that may be claimed and were not passed over, best first; `all` are the jobs there
   * are, where it took looking at all of them.
   */
  claimEligible(
    types: readonly string[],
    limit: number,
    isPassedOver: (due: Due) => boolean,
  ): Promise<{ readonly ready: readonly Ready[]; readonly all: ReadonlySet<JobId> | null }>
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
    async claimEligible(types, limit, isPassedOver) {
      const all = new Set<JobId>()
      let isWhole = true
      const best = async (type: string): Promise<readonly Listed[]> => {
        const found: Listed[] = []
        // Jobs that nobody here can work may stand in front of those that somebody can.
        for await (const page of pages(views, readyJobs, readyJobsOfType(type), limit * 2)) {
          for (const document of page) {
            const { jobId, revision, priority } = ReadyJob.parse(JSON.parse(document.value))
            all.add(jobId)
            const due: Ready = { jobId, mark: `ready ${revision}`, first: null, priority }
            if (!isPassedOver(due)) found.push({ document, due })
          }
          if (found.length < limit) continue
          isWhole = false
          break
        }
        return found
      }
      const found = (await Promise.all(types.map(best))).flat()
      const ready = found.sort((left, right) => inListOrder(left.document, right.document)).slice(0, limit)
      return { ready: ready.map(({ due }) => due), all: isWhole ? all : null }
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

type Listed = { readonly document: ViewDocument; readonly due: Ready }
type Projected = { readonly name: string; readonly version: number }

/** As many as there are: one for each job that somebody is working. */
const wholeList = async (views: ViewStore, projection: Projected, term: string): Promise<readonly ViewDocument[]> => {
  const all: ViewDocument[] = []
  for await (const page of pages(views, projection, term, lookAtMost)) all.push(...page)
  return all
}

async function* pages(
  views: ViewStore,
  { name, version }: Projected,
  term: string,
  size: number,
): AsyncGenerator<readonly ViewDocument[]> {
  const limit = Math.min(size, lookAtMost)
  for (let after = {}; ; ) {
    const page = await views.query(name, version, { term, limit, ...after })
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < limit) return
    after = { after: { sort: last.sort, key: last.key } }
  }
}

const inListOrder = (left: ViewDocument, right: ViewDocument): number =>
  left.sort < right.sort ? -1 : left.sort > right.sort ? 1 : left.key < right.key ? -1 : 1
