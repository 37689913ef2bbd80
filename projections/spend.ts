import { z } from 'zod'
import { JobId } from '../domain/ids.ts'
import type { Amounts, JobEvent } from '../domain/job/events.ts'
import { addUsd, Usd } from '../domain/money.ts'
import { inputTokensOf } from '../domain/pricing.ts'
import { defineProjection } from './projection.ts'

const Count = z.int().nonnegative()

const Spent = { provider: z.string(), model: z.string(), calls: Count, inputTokens: Count, outputTokens: Count }

/** What one job has paid for, by day (UTC), provider and model. */
export const JobSpend = z.strictObject({
  jobId: JobId,
  projectId: z.string(),
  lines: z.array(z.strictObject({ day: z.iso.date(), ...Spent, costUsd: Usd })),
  /** Calls that may still have to be paid for, with the tokens they are charged when their usage cannot be. */
  open: z.record(z.string(), z.strictObject(Spent)),
})
export type JobSpend = z.infer<typeof JobSpend>
export type SpendLine = JobSpend['lines'][number]
type OpenCall = JobSpend['open'][string]
type Charge = Pick<Amounts, 'costUsd' | 'calls' | 'inputTokens' | 'outputTokens'>

/** The list of jobs that paid for something on this day (`2026-01-31`, UTC), in all projects or in one. */
export const spendOn = (day: string, projectId?: string): string =>
  projectId === undefined ? `day:${day}` : `day:${day}|project:${projectId}`

/** The day of an instant, in UTC. */
export const dayOf = (instant: string): string => instant.slice(0, 10)

/**
 * Settled and reconciled calls by day, project, provider and model; each counts on the one day its event was
 * recorded. A report sums the documents of a day's list (`sumSpend`).
 *
 * There is a document a job, not a day, because a settlement names only the number of its call: what was called
 * stands in an earlier event of the same job, so the job's document has to remember it. A day costs as many
 * documents as jobs paid for something on it, however long the log is.
 */
export const spend = defineProjection<JobSpend>({
  name: 'spend',
  version: 1,
  schema: JobSpend,

  keyOf: (event) => {
    switch (event.type) {
      case 'ProviderCallReserved':
      case 'ProviderCallSettled':
      case 'ProviderCallReconciled':
        return event.jobId
      case 'ProviderCallFailed':
        return event.data.billed === 'no' ? event.jobId : null
      default:
        return null
    }
  },

  project: (before, event) => {
    if (event.type === 'Unknown') return before
    const { jobId, recordedAt } = event
    const job = before ?? { jobId, projectId: event.meta.projectId, lines: [], open: {} }
    switch (event.type) {
      case 'ProviderCallReserved':
        return reserved(job, event)
      case 'ProviderCallSettled': {
        const { call, usage, costUsd } = event.data
        const open = job.open[call]
        if (open === undefined) return before
        const inputTokens = usage === null ? open.inputTokens : inputTokensOf(usage)
        const outputTokens = usage === null ? open.outputTokens : usage.outputTokens
        return paid(closed(job, call), open, dayOf(recordedAt), { costUsd, calls: 1, inputTokens, outputTokens })
      }
      case 'ProviderCallReconciled': {
        const { call, costUsd, inputTokens, outputTokens, billed } = event.data
        const open = job.open[call]
        if (open === undefined) return before
        const calls = billed ? 1 : 0
        return paid(closed(job, call), open, dayOf(recordedAt), { costUsd, calls, inputTokens, outputTokens })
      }
      case 'ProviderCallFailed':
        return kept(closed(job, event.data.call))
      default:
        return before
    }
  },

  place: (job) => {
    const days = [...new Set(job.lines.map((line) => line.day))]
    return { terms: days.flatMap((day) => [spendOn(day), spendOn(day, job.projectId)]), sort: job.jobId }
  },
})

const reserved = (job: JobSpend, event: Extract<JobEvent, { type: 'ProviderCallReserved' }>): JobSpend => {
  const { call, provider, model, takesOver, worstCase } = event.data
  const { calls, inputTokens, outputTokens } = worstCase
  const left = takesOver === undefined ? job : closed(job, takesOver)
  return { ...left, open: { ...left.open, [call]: { provider, model, calls, inputTokens, outputTokens } } }
}

const closed = (job: JobSpend, call: number): JobSpend => {
  const { [call]: _closed, ...open } = job.open
  return { ...job, open }
}

/** A job that has paid for nothing and may have to pay for nothing has no document. */
const kept = (job: JobSpend): JobSpend | null =>
  job.lines.length === 0 && Object.keys(job.open).length === 0 ? null : job

const paid = (job: JobSpend, { provider, model }: OpenCall, day: string, charge: Charge): JobSpend => {
  const isLine = (line: SpendLine): boolean => line.day === day && line.provider === provider && line.model === model
  const line = { day, provider, model, ...charge }
  return job.lines.some(isLine)
    ? { ...job, lines: job.lines.map((each) => (isLine(each) ? added(each, charge) : each)) }
    : { ...job, lines: [...job.lines, lineOf(line)] }
}

const added = (line: SpendLine, charge: Charge): SpendLine =>
  lineOf({
    ...line,
    calls: line.calls + charge.calls,
    inputTokens: line.inputTokens + charge.inputTokens,
    outputTokens: line.outputTokens + charge.outputTokens,
    costUsd: addUsd(line.costUsd, charge.costUsd),
  })

const lineOf = ({ day, provider, model, calls, inputTokens, outputTokens, costUsd }: SpendLine): SpendLine => ({
  day,
  provider,
  model,
  calls,
  inputTokens,
  outputTokens,
  costUsd,
})

/** What these jobs have paid together, one row a day, project, provider and model, in that order. */
export const sumSpend = (jobs: Iterable<JobSpend>): readonly (SpendLine & { readonly projectId: string })[] => {
  const rows = new Map<string, SpendLine & { projectId: string }>()
  for (const { projectId, lines } of jobs) {
    for (const line of lines) {
      const key = JSON.stringify([line.day, projectId, line.provider, line.model])
      const row = rows.get(key)
      rows.set(key, { projectId, ...(row === undefined ? line : added(row, line)) })
    }
  }
  return [...rows].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row)
}
