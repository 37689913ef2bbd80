import type { ArtifactStore } from '../../domain/ports/artifactStore.ts'
import type { EventStore } from '../../domain/ports/eventStore.ts'
import type { Sha256 } from '../../domain/ports/hash.ts'
import type { AuditReport } from '../engine.ts'
import { artifactJudge } from './artifactJudge.ts'
import type { Judging } from './auditStream.ts'
import { findings } from './findings.ts'
import { pinnedPrices } from './pinnedPrices.ts'

/** What an audit reads. It writes nothing; an artifact store may set a damaged file aside. */
export type Audited = {
  readonly events: Pick<EventStore, 'readStream' | 'readAll'>
  readonly artifacts: ArtifactStore
  readonly sha256: Sha256
}

/** One audit at work: what its judges share, and what comes of it. */
export type Auditing = Judging & {
  report(counted: { readonly jobs: number; readonly events: number }): Promise<AuditReport>
}

export const auditing = ({ artifacts, sha256 }: Audited): Auditing => {
  const found = findings()
  const stored = artifactJudge({ artifacts, sha256 })
  return {
    sha256,
    pinned: pinnedPrices({ artifacts, sha256 }),
    artifacts: stored,
    find: found.add,
    report: async (counted) => {
      const { checked, findings: troubles } = await stored.verdict()
      troubles.forEach(found.add)
      return { ...counted, artifacts: checked, findings: found.list() }
    },
  }
}
