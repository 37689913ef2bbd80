import { jobList } from '../../projections/jobList.ts'
import { openLeases } from '../../projections/openLeases.ts'
import { readyJobs } from '../../projections/readyJobs.ts'
import { spend } from '../../projections/spend.ts'
import { wakeUps } from '../../projections/wakeUps.ts'
import type { Projection } from '../../projections/projection.ts'

/** Projections in the order they are built in. */
export type BuildOrder = {
  /** What the loops look at: in a backlog they are built before the rest. */
  readonly first: readonly Projection<unknown>[]
  readonly rest: readonly Projection<unknown>[]
}

export const shippedProjections: BuildOrder = { first: [readyJobs, openLeases, wakeUps], rest: [jobList, spend] }
