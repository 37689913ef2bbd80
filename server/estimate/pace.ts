import type { ViewStore } from '../../domain/ports/viewStore.ts'
import { jobsAnsweredBy, JobThroughput, sumThroughput, throughput } from '../../projections/throughput.ts'

/** What an answer of a model has taken, in the mean. */
export type Pace = { readonly outputTokens: number; readonly seconds: number }

/** Fewer answers say nothing about the next. */
const callsMin = 20
/** The newest say most, and a log of any length is asked for no more. */
const jobsMax = 100

/** The mean of what the log has seen of a model, over its newest jobs; null where that is too little. */
export const paceOf = async (views: ViewStore, provider: string, model: string): Promise<Pace | null> => {
  const term = jobsAnsweredBy(provider, model)
  const documents = await views.query(throughput.name, throughput.version, { term, limit: jobsMax })
  const jobs = documents.map(({ value }) => JobThroughput.parse(JSON.parse(value)))
  const { calls, outputTokens, durationMs } = sumThroughput(jobs, provider, model)
  return calls < callsMin ? null : { outputTokens: outputTokens / calls, seconds: durationMs / 1_000 / calls }
}
