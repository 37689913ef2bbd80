import { jobOfStream } from '../../domain/ids.ts'
import { beforeAll, type StoredEvent } from '../../domain/ports/eventStore.ts'
import type { AuditReport } from '../engine.ts'
import { type Audited, auditing } from './auditing.ts'
import { revivedJudge, streamJudge, type StreamJudge } from './auditStream.ts'
import type { ChainEnd } from './chainJudge.ts'
import { findingAt } from './findings.ts'

const pageSize = 1_000

/**
 * Judges every stream in one walk through the log, and never stops at a finding. An ended job is remembered by where
 * its chain ends, and read again should anything follow; so memory grows with the jobs at work, and little with the
 * log. `progress` is told the events judged so far. Raises `StoreUnavailable`.
 */
export const verifyLog = async (
  audited: Audited,
  { progress = () => {} }: { progress?(events: number): void } = {},
): Promise<AuditReport> => {
  const work = auditing(audited)
  const judges = new Map<string, StreamJudge>()
  const resting = new Map<string, ChainEnd>()
  let jobs = 0
  let events = 0

  const judgeOf = async (stream: string): Promise<StreamJudge> => {
    const known = judges.get(stream)
    if (known !== undefined) return known
    const end = resting.get(stream)
    if (end === undefined && jobOfStream(stream) !== null) jobs += 1
    const judge =
      end === undefined ? streamJudge(work, stream) : await revivedJudge(work, stream, end, audited.events)
    resting.delete(stream)
    judges.set(stream, judge)
    return judge
  }

  const letRest = (page: readonly StoredEvent[]): void => {
    for (const { stream } of page) {
      const judge = judges.get(stream)
      if (judge?.isAtRest() !== true) continue
      resting.set(stream, judge.chainEnd())
      judges.delete(stream)
    }
  }

  let after = beforeAll
  for (;;) {
    const page = await audited.events.readAll({ after, limit: pageSize })
    let before = after
    for (const event of page.events) {
      if (event.position <= before) work.find(findingAt(event, 'position', `it stands behind position ${before}`))
      before = event.position
      await (await judgeOf(event.stream)).take(event)
    }
    events += page.events.length
    letRest(page.events)
    progress(events)
    const isStuck = page.scannedTo <= after
    if (isStuck && !page.atEnd) work.find({ rule: 'position', message: `no page follows position ${after}` })
    if (isStuck || page.atEnd) return work.report({ jobs, events })
    after = page.scannedTo
    // A walk through a long log must not keep a server from answering.
    await new Promise((resolve) => setImmediate(resolve))
  }
}
