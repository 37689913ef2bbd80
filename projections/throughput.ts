import { z } from 'zod'
import { JobId } from '../domain/ids.ts'
import { newestFirst } from './newestFirst.ts'
import { defineProjection } from './projection.ts'

const Count = z.int().nonnegative()
const Asked = { provider: z.string(), model: z.string() }

/** How the calls of one job were answered: what the next job of the same model may expect. */
export const JobThroughput = z.strictObject({
  jobId: JobId,
  projectId: z.string(),
  /** Position of the first call that is counted or may still be. */
  since: z.string(),
  lines: z.array(z.strictObject({ ...Asked, calls: Count, outputTokens: Count, durationMs: Count })),
  open: z.record(z.string(), z.strictObject(Asked)),
})
export type JobThroughput = z.infer<typeof JobThroughput>
type Line = JobThroughput['lines'][number]

/** The list of jobs that a model has answered, in all projects or in one, newest first. */
export const jobsAnsweredBy = (provider: string, model: string, projectId?: string): string =>
  JSON.stringify(projectId === undefined ? [provider, model] : [provider, model, projectId])

/**
 * Calls, output and time of each job, by provider and model. Counted is what a provider told of an answer that came
 * while it was waited for: an answer charged at its worst case, or seen long after, says nothing about the next.
 *
 * There is a document a job, since a settlement names only the number of its call (as in `spend`).
 */
export const throughput = defineProjection<JobThroughput>({
  name: 'throughput',
  version: 2,
  schema: JobThroughput,

  keyOf: (event) => {
    switch (event.type) {
      case 'ProviderCallReserved':
      case 'ProviderCallSettled':
      case 'ProviderCallFailed':
      case 'ProviderCallOrphaned':
        return event.jobId
      default:
        return null
    }
  },

  project: (before, event) => {
    switch (event.type) {
      case 'ProviderCallReserved': {
        const { call, provider, model } = event.data
        const job = before ?? { jobId: event.jobId, projectId: event.meta.projectId, since: event.position, lines: [], open: {} }
        return { ...job, open: { ...job.open, [call]: { provider, model } } }
      }
      case 'ProviderCallSettled': {
        const { call, usage, durationMs, late } = event.data
        const asked = before?.open[call]
        if (before === null || asked === undefined) return before
        const left = closed(before, call)
        if (usage === null || late === true) return kept(left)
        return answered(left, { ...asked, calls: 1, outputTokens: usage.outputTokens, durationMs })
      }
      case 'ProviderCallFailed':
      case 'ProviderCallOrphaned':
        return before === null ? null : kept(closed(before, event.data.call))
      default:
        return before
    }
  },

  place: ({ lines, since, projectId }) => ({
    terms: lines.flatMap(({ provider, model }) => [jobsAnsweredBy(provider, model), jobsAnsweredBy(provider, model, projectId)]),
    sort: newestFirst(since),
  }),
})

const closed = (job: JobThroughput, call: number): JobThroughput => {
  const { [call]: _closed, ...open } = job.open
  return { ...job, open }
}

/** A job without an answer, and without a call that may get one, has no document. */
const kept = (job: JobThroughput): JobThroughput | null =>
  job.lines.length === 0 && Object.keys(job.open).length === 0 ? null : job

const answered = (job: JobThroughput, { provider, model, ...more }: Line): JobThroughput => {
  const at = job.lines.findIndex((line) => line.provider === provider && line.model === model)
  const line = { provider, model, ...summed([job.lines[at] ?? none, more]) }
  return { ...job, lines: at === -1 ? [...job.lines, line] : job.lines.with(at, line) }
}

type Sum = Omit<Line, keyof typeof Asked>
const none: Sum = { calls: 0, outputTokens: 0, durationMs: 0 }

const summed = (sums: readonly Sum[]): Sum =>
  sums.reduce(
    (total, each) => ({
      calls: total.calls + each.calls,
      outputTokens: total.outputTokens + each.outputTokens,
      durationMs: total.durationMs + each.durationMs,
    }),
    none,
  )

/** What these jobs were answered together by one model. */
export const sumThroughput = (jobs: readonly JobThroughput[], provider: string, model: string): Sum =>
  summed(jobs.flatMap(({ lines }) => lines.filter((line) => line.provider === provider && line.model === model)))
