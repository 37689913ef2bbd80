import { Instant } from '../../domain/job/events.ts'
import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import type { Sha256 } from '../../domain/ports/hash.ts'
import { chainStart, idOfHash, sealHash } from '../../domain/seal.ts'
import type { Report } from './findings.ts'

/** What the next event of a stream is chained to. */
export type ChainEnd = { readonly nextRevision: number; readonly hash: string }

/** Whether an event stands where it should: as the next one, behind a gap, or where another has stood already. */
export type Standing = 'next' | 'behindGap' | 'again'

export type ChainJudge = {
  take(event: StoredEvent, report: Report): Standing
  end(): ChainEnd
}

/** Judges what every stream has, whatever its events mean: revisions without gaps, and the chain of hashes. */
export const chainJudge = (stream: string, sha256: Sha256, from?: ChainEnd): ChainJudge => {
  let end: ChainEnd = from ?? { nextRevision: 0, hash: chainStart(stream, sha256) }
  let lastRecordedAt = ''

  const checkEnvelope = ({ revision, schemaVersion, recordedAt }: StoredEvent, report: Report): void => {
    if (!Number.isSafeInteger(revision) || revision < 0) report('envelope', `${revision} is no revision`)
    if (!Number.isSafeInteger(schemaVersion) || schemaVersion < 1) {
      report('envelope', `${schemaVersion} is no schema version`)
    }
    // Stamps may go backwards (clocks do), and those of one append are alike.
    if (recordedAt === lastRecordedAt) return
    lastRecordedAt = recordedAt
    if (!Instant.safeParse(recordedAt).success) report('envelope', `recordedAt is no UTC instant in milliseconds`)
  }

  /** The hash that the next event is judged by. */
  const checkSeal = (event: StoredEvent, report: Report): string => {
    const hash = sealHash(event, end.hash, sha256)
    const id = idOfHash(hash)
    if (hash === event.hash) {
      if (id !== event.id) report('id', `its id should be ${id}, as made of its hash`)
      return hash
    }
    report('hash', `its hash is not that of its content behind the event before it: one of the two was changed`)
    // With a right id only the hash itself was changed. Otherwise the chain is taken up where it stands, so that one
    // change is found once.
    return id === event.id ? hash : event.hash
  }

  const standingOf = (event: StoredEvent, report: Report): Standing => {
    if (event.revision === end.nextRevision) return 'next'
    report('gapless', `its revision should be ${end.nextRevision}`)
    return event.revision > end.nextRevision ? 'behindGap' : 'again'
  }

  return {
    take: (event, report) => {
      checkEnvelope(event, report)
      const standing = standingOf(event, report)
      const hash = checkSeal(event, report)
      end = { hash, nextRevision: standing === 'again' ? end.nextRevision : event.revision + 1 }
      return standing
    },
    end: () => end,
  }
}
