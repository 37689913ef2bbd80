import { StoreUnavailable } from '../../domain/errors.ts'
import { type JobId, jobIdOf } from '../../domain/ids.ts'
import type { JobEvent } from '../../domain/job/events.ts'
import { evolveInPlace } from '../../domain/job/evolve.ts'
import { isTerminal, type Job } from '../../domain/job/job.ts'
import { illegality } from '../../domain/job/legal.ts'
import { isKnown } from '../../domain/job/readEvent.ts'
import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import type { Sha256 } from '../../domain/ports/hash.ts'
import type { PriceProfile } from '../../domain/pricing.ts'
import type { ArtifactJudge } from './artifactJudge.ts'
import type { Standing } from './chainJudge.ts'
import { costsDisagree } from './costsDisagree.ts'
import type { Report } from './findings.ts'
import { inWords } from './inWords.ts'
import { moneyJudge } from './moneyJudge.ts'
import type { PinnedPrices } from './pinnedPrices.ts'
import { readStrictly } from './readStrictly.ts'
import { referencesOf } from './references.ts'

export type JobJudging = {
  readonly sha256: Sha256
  readonly pinned: PinnedPrices
  readonly artifacts: Pick<ArtifactJudge, 'note' | 'acknowledge'>
}

export type JobJudge = {
  /** Judges what the event says. Raises nothing but `StoreUnavailable`. */
  take(stored: StoredEvent, standing: Standing, report: Report): Promise<void>
  hasEnded(): boolean
}

/** Judges what the events of one job mean: each by itself, and against the job as those before it have left it. */
export const jobJudge = (judging: JobJudging, jobId: JobId): JobJudge => {
  const money = moneyJudge()
  let job: Job | null = null
  let prices: PriceProfile | null = null
  let isPriced = true
  /** Behind an event that could not be understood the fold would be a guess. */
  let isLost = false

  const lose = (report: Report, rule: string, message: string): void => {
    report(rule, isLost ? message : `${message}; the job's legality and money are not judged from here on`)
    isLost = true
  }

  const read = (stored: StoredEvent, report: Report): JobEvent | null => {
    try {
      const event = readStrictly(stored)
      if (isKnown(event)) return event
      lose(report, 'unknown_event', `${stored.type} version ${stored.schemaVersion} is newer than this program`)
    } catch (error) {
      lose(report, 'schema', `${stored.type}: ${inWords(error)}`)
    }
    return null
  }

  const submitted = async (event: JobEvent & { type: 'JobSubmitted' }, report: Report): Promise<void> => {
    const spec = event.data
    if (jobIdOf(spec.projectId, spec.idempotencyKey, judging.sha256) !== jobId) {
      const [project, key] = [JSON.stringify(spec.projectId), JSON.stringify(spec.idempotencyKey)]
      report('job_id', `the stream's name is not made of project ${project} and key ${key}`)
    }
    const pinned = await judging.pinned(spec)
    isPriced = 'prices' in pinned
    if ('prices' in pinned) prices = pinned.prices
    else report('price_profile', `costs are not judged, the price profile cannot be read: ${pinned.unreadable}`)
  }

  const noteArtifacts = async (event: JobEvent, stored: StoredEvent): Promise<void> => {
    if (event.type === 'CheckpointInvalidated') await judging.artifacts.acknowledge(stored.stream, event.data.sha256)
    if (!stored.data.includes('"sha256"')) return
    for (const reference of referencesOf(event)) {
      await judging.artifacts.note(event.meta.projectId, reference, stored)
    }
  }

  /** Against the job as it stood before the event. */
  const judge = (event: JobEvent, standing: Standing, report: Report): void => {
    const broken = illegality(job, event)
    // A gap was found already, by the chain.
    if (broken !== null && !(broken.rule === 'gapless' && standing === 'behindGap')) report(broken.rule, broken.message)
    if (job !== null && event.meta.projectId !== job.spec.projectId) {
      report('project', `it was written for project "${event.meta.projectId}", not "${job.spec.projectId}"`)
    }
    const disagreement = isPriced ? costsDisagree(job, event, prices) : null
    if (disagreement !== null) report('price', disagreement)
  }

  const apply = (event: JobEvent, report: Report): void => {
    const call = 'call' in event.data ? event.data.call : null
    const worstCase = job === null || call === null ? null : ((job.open[call] ?? job.holds[call])?.worstCase ?? null)
    job = evolveInPlace(job, event)
    money.take(event, worstCase, job, report)
  }

  return {
    take: async (stored, standing, report) => {
      const event = read(stored, report)
      if (event === null) return
      try {
        await noteArtifacts(event, stored)
        if (isLost || standing === 'again') return
        if (event.type === 'JobSubmitted' && job === null) await submitted(event, report)
        judge(event, standing, report)
        apply(event, report)
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        lose(report, 'fold', `${event.type} cannot follow the events before it: ${inWords(error)}`)
      }
    },
    hasEnded: () => isLost || (job !== null && isTerminal(job.state)),
  }
}
