import type { Amounts } from '../domain/job/events.ts'
import { addUsd, subtractUsd, type Usd } from '../domain/money.ts'
import type { ListedJob } from './jobList.ts'

type WorstCase = ListedJob['fold']['open'][string]
type Changes = Partial<ListedJob>

const without = (calls: Readonly<Record<string, WorstCase>>, call: number): Record<string, WorstCase> => {
  const { [call]: _gone, ...left } = calls
  return left
}

/** A call is set aside at its worst case; the hold that it takes over is given back first. */
export const reserved = (job: ListedJob, call: number, worst: Amounts, takesOver: number | undefined): Changes => {
  const { costUsd, calls } = worst
  const { fold } = job
  const over = takesOver === undefined ? undefined : fold.holds[takesOver]
  return {
    reservedCostUsd: addUsd(job.reservedCostUsd, costUsd),
    heldCostUsd: over === undefined ? job.heldCostUsd : subtractUsd(job.heldCostUsd, over.costUsd),
    callsMade: job.callsMade + calls - (over?.calls ?? 0),
    fold: {
      ...fold,
      open: { ...fold.open, [call]: { costUsd, calls } },
      holds: over === undefined || takesOver === undefined ? fold.holds : without(fold.holds, takesOver),
    },
  }
}

/** A call's reservation or hold is given back, and what it cost is booked. */
export const spent = (
  job: ListedJob,
  call: number,
  from: 'open' | 'holds',
  cost: { costUsd: Usd; calls: number },
): Changes => {
  const worst = job.fold[from][call]
  if (worst === undefined) return {}
  const left = { ...job.fold, [from]: without(job.fold[from], call) }
  return {
    spentCostUsd: addUsd(job.spentCostUsd, cost.costUsd),
    heldCostUsd: from === 'holds' ? subtractUsd(job.heldCostUsd, worst.costUsd) : job.heldCostUsd,
    reservedCostUsd: from === 'open' ? subtractUsd(job.reservedCostUsd, worst.costUsd) : job.reservedCostUsd,
    callsMade: job.callsMade - worst.calls + cost.calls,
    fold: left,
  }
}

/** A send that was certainly not billed. */
export const givenBack = (job: ListedJob, call: number): Changes => {
  const worst = job.fold.open[call]
  if (worst === undefined) return {}
  return {
    reservedCostUsd: subtractUsd(job.reservedCostUsd, worst.costUsd),
    callsMade: job.callsMade - worst.calls,
    fold: { ...job.fold, open: without(job.fold.open, call) },
  }
}

/** A send that may have been billed keeps its worst case. */
export const held = (job: ListedJob, call: number): Changes => {
  const worst = job.fold.open[call]
  if (worst === undefined) return {}
  return {
    reservedCostUsd: subtractUsd(job.reservedCostUsd, worst.costUsd),
    heldCostUsd: addUsd(job.heldCostUsd, worst.costUsd),
    fold: {
      ...job.fold,
      open: without(job.fold.open, call),
      holds: { ...job.fold.holds, [call]: worst },
    },
  }
}
