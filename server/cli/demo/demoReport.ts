import type { JobState } from '../../../domain/job/job.ts'
import type { Usd } from '../../../domain/money.ts'
import { billOf, type Check, comparison, type Evidence, isBilled } from './comparison.ts'

/** What the demo has shown: the document of `--json`. */
export type DemoReport = {
  readonly jobId: string
  readonly state: JobState
  readonly killedPid: number
  /** Requests by the provider's own log. */
  readonly providerCalls: number
  readonly providerBilled: number
  /** Requests that got a stored answer again, unbilled. */
  readonly replayed: number
  readonly ledgerLines: number
  readonly settled: number
  /** Lines of calls that the kill cut off and that were sent again under the same key. */
  readonly takenOver: number
  readonly held: number
  readonly spentCostUsd: Usd
  readonly heldCostUsd: Usd
  /** The provider's bill, from its own count of tokens. */
  readonly billedCostUsd: Usd
  readonly comparison: { readonly holds: boolean; readonly checks: readonly Check[] }
  readonly folder: string
  /** What the job says it has made. */
  readonly output: unknown
  readonly resultsPath: string
  readonly seconds: number
}

export const demoReport = (
  evidence: Evidence,
  told: Pick<DemoReport, 'killedPid' | 'folder' | 'seconds'>,
): DemoReport => {
  const { calls, ledger, job, price } = evidence
  const linesIn = (wanted: string): number => ledger.lines.filter(({ state }) => state === wanted).length
  const checks = comparison(evidence)
  return {
    jobId: job.jobId,
    state: job.state,
    killedPid: told.killedPid,
    providerCalls: calls.length,
    providerBilled: calls.filter(isBilled).length,
    replayed: calls.filter(({ answer }) => answer?.replayed === true).length,
    ledgerLines: ledger.lines.length,
    settled: linesIn('settled'),
    takenOver: linesIn('taken_over'),
    held: linesIn('held'),
    spentCostUsd: job.budget.spentCostUsd,
    heldCostUsd: job.budget.heldCostUsd,
    billedCostUsd: billOf(calls, price),
    comparison: { holds: checks.every(({ holds }) => holds), checks },
    folder: told.folder,
    output: job.output !== null && 'json' in job.output ? job.output.json : null,
    resultsPath: evidence.dataset.folder,
    seconds: told.seconds,
  }
}
