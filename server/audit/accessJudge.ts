import { readAccessEvent } from '../access/accessEvents.ts'
import { inWords } from './inWords.ts'
import type { JobJudge } from './jobJudge.ts'

/** Judges whether this program can read who may come in: what it cannot read ends rights, and somebody is locked out. */
export const accessJudge: Pick<JobJudge, 'take'> = {
  async take(stored, _, report) {
    try {
      if (readAccessEvent(stored).type !== 'Unknown') return
      report('unknown_event', `${stored.type} version ${stored.schemaVersion} is newer than this program`)
    } catch (error) {
      report('schema', `${stored.type}: ${inWords(error)}`)
    }
  },
}
