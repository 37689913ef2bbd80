import { jobOfStream, jobStreamPrefix } from '../../domain/ids.ts'
import type { EventStore, StoredEvent } from '../../domain/ports/eventStore.ts'
import type { Finding } from '../engine.ts'
import { type ChainEnd, chainJudge, type ChainJudge } from './chainJudge.ts'
import { findingAt, type Report } from './findings.ts'
import { type JobJudge, jobJudge, type JobJudging } from './jobJudge.ts'

export type Judging = JobJudging & { find(finding: Finding): void }

export type StreamJudge = {
  /** The next event of the stream, in log order. Raises nothing but `StoreUnavailable`: all else is a finding. */
  take(event: StoredEvent): Promise<void>
  /** Seldom followed by anything: the judge may be let go of, and revived from where the chain ends. */
  isAtRest(): boolean
  chainEnd(): ChainEnd
}

/**
 * Judges one stream from its first event. A job's stream is judged by what its events mean; of any other kind
 * (late answers, tokens) the chain and the revisions are. Memory does not grow with the events.
 */
export const streamJudge = (judging: Judging, stream: string): StreamJudge => {
  const jobId = jobOfStream(stream)
  const job = jobId === null ? null : jobJudge(judging, jobId)
  return judgeOf(judging, chainJudge(stream, judging.sha256), job, () => job?.hasEnded() ?? true)
}

const pageSize = 1_000

/** Goes on behind events that were judged before: they are folded once more, and nothing about them is told again. */
export const revivedJudge = async (
  judging: Judging,
  stream: string,
  end: ChainEnd,
  events: Pick<EventStore, 'readStream'>,
): Promise<StreamJudge> => {
  const jobId = jobOfStream(stream)
  const chain = chainJudge(stream, judging.sha256, end)
  if (jobId === null) return judgeOf(judging, chain, null, () => true)
  const job = jobJudge(judging, jobId)
  const chainBefore = chainJudge(stream, judging.sha256)
  const untold: Report = () => {}
  for (let from = 0; from < end.nextRevision; ) {
    const page = await events.readStream(stream, { from, limit: Math.min(pageSize, end.nextRevision - from) })
    const last = page.at(-1)
    if (last === undefined || last.revision < from) break
    for (const event of page) await job.take(event, chainBefore.take(event, untold), untold)
    from = last.revision + 1
  }
  // Let go of once only, so that no log can make its audit read a stream again and again.
  return judgeOf(judging, chain, job, () => false)
}

const judgeOf = (judging: Judging, chain: ChainJudge, job: JobJudge | null, isAtRest: () => boolean): StreamJudge => ({
  take: async (event) => {
    const report: Report = (rule, message) => judging.find(findingAt(event, rule, message))
    if (job === null && event.stream.startsWith(jobStreamPrefix) && event.revision === 0) {
      report('stream', 'its name begins like that of a job, and goes on like none')
    }
    const standing = chain.take(event, report)
    if (job !== null) await job.take(event, standing, report)
  },
  isAtRest,
  chainEnd: chain.end,
})
