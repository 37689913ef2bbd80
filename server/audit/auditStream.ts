import { jobOfStream, jobStreamPrefix } from '../../domain/ids.ts'
import type { EventStore, StoredEvent } from '../../domain/ports/eventStore.ts'
import { accessStream } from '../access/accessEvents.ts'
import type { Finding } from '../engine.ts'
import { accessJudge } from './accessJudge.ts'
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
 * Judges one stream from its first event. A job's stream is judged by what its events mean, that of the tokens by
 * whether they can be read; of any other (late answers) the chain and the revisions are. Memory does not grow with the
 * events.
 */
export const streamJudge = (judging: Judging, stream: string): StreamJudge => {
  const jobId = jobOfStream(stream)
  const chain = chainJudge(stream, judging.sha256)
  if (jobId === null) return judgeOf(judging, chain, besideJobs(stream), () => true)
  const job = jobJudge(judging, jobId)
  return judgeOf(judging, chain, job, job.hasEnded)
}

/** Judges the content of a stream that is no job's, each event by itself. */
const besideJobs = (stream: string): Pick<JobJudge, 'take'> | null => (stream === accessStream ? accessJudge : null)

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
  if (jobId === null) return judgeOf(judging, chain, besideJobs(stream), () => true)
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

const judgeOf = (
  judging: Judging,
  chain: ChainJudge,
  content: Pick<JobJudge, 'take'> | null,
  isAtRest: () => boolean,
): StreamJudge => ({
  take: async (event) => {
    const report: Report = (rule, message) => judging.find(findingAt(event, rule, message))
    if (content === null && event.stream.startsWith(jobStreamPrefix) && event.revision === 0) {
      report('stream', 'its name begins like that of a job, and goes on like none')
    }
    const standing = chain.take(event, report)
    if (content !== null) await content.take(event, standing, report)
  },
  isAtRest,
  chainEnd: chain.end,
})
