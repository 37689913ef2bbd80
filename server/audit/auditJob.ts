import { type JobId, jobStream } from '../../domain/ids.ts'
import type { AuditReport } from '../engine.ts'
import { type Audited, type Auditing, auditing } from './auditing.ts'
import { streamJudge } from './auditStream.ts'

const pageSize = 1_000

/**
 * Judges one job: its chain, revisions, legality, limits, ledger, prices and artifacts, and the chain of what reached
 * its workers too late. Raises `StoreUnavailable`; whatever the log or an artifact may be, it is a finding.
 */
export const auditJob = async (audited: Audited, jobId: JobId): Promise<AuditReport> => {
  const work = auditing(audited)
  const events = await auditWhole(audited, work, jobStream(jobId))
  const late = await auditWhole(audited, work, `evidence-${jobId}`)
  return work.report({ jobs: events === 0 ? 0 : 1, events: events + late })
}

const auditWhole = async (audited: Audited, work: Auditing, stream: string): Promise<number> => {
  const judge = streamJudge(work, stream)
  let count = 0
  for (let from = 0; ; ) {
    const page = await audited.events.readStream(stream, { from, limit: pageSize })
    for (const event of page) await judge.take(event)
    count += page.length
    const last = page.at(-1)
    if (last === undefined || page.length < pageSize || last.revision < from) return count
    from = last.revision + 1
  }
}
