import { jobList } from '../../projections/jobList.ts'
import { openLeases } from '../../projections/openLeases.ts'
import { readyJobs } from '../../projections/readyJobs.ts'
import { spend } from '../../projections/spend.ts'
import { throughput } from '../../projections/throughput.ts'
import { wakeUps } from '../../projections/wakeUps.ts'

const first = [readyJobs, openLeases, wakeUps]
const rest = [jobList, spend, throughput]

/** The views that are kept. The loops look at `first`, so these are built before the others. */
export const projections = { first, rest, all: [...first, ...rest] }
