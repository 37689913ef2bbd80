import type { ViewStore } from '../../domain/ports/viewStore.ts'
import { jobsAnsweredBy, JobThroughput, sumThroughput, throughput } from '../../projections/throughput.ts'
import { queryLists } from '../queryLists.ts'

/** What an answer of a model has taken, in the mean. */
export type Pace = { readonly outputTokens: number; readonly seconds: number }

/** Fewer answers say nothing about the next. */
const callsMin = 20
/** The newest say most, and a log of any length is asked for no more. */
const jobsMax = 100

/** What is asked about; with `projectIds`, of the answers in these projects alone. */
export type AskedPace = { readonly provider: string; readonly model: string; readonly projectIds?: readonly string[] | undefined }

/** The mean of what the log has seen of a model, over its newest jobs; null where that is too little. */
export const paceOf = async (views: ViewStore, { provider, model, projectIds }: AskedPace): Promise<Pace | null> => {
  const owners = projectIds === undefined ? [undefined] : [...new Set(projectIds)]
  const terms = owners.map((projectId) => jobsAnsweredBy(provider, model, projectId))
  const documents = await queryLists(views, throughput, { terms, limit: jobsMax })
  const jobs = documents.map(({ value }) => JobThroughput.parse(JSON.parse(value)))
  const { calls, outputTokens, durationMs } = sumThroughput(jobs, provider, model)
  return calls < callsMin ? null : { outputTokens: outputTokens / calls, seconds: durationMs / 1_000 / calls }
}
