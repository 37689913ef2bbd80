import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import { jobOfStream } from '../../domain/ids.ts'
import type { Finding } from '../engine.ts'

const listedMax = 100
// One broken event can make all that follow it look wrong: the other streams' findings must still be seen.
const listedMaxOfStream = 10

export type Findings = {
  add(finding: Finding): void
  /** In the order they came; where some are left out, the last one says how many. */
  list(): readonly Finding[]
}

/** At most 100 findings are kept, 10 of one stream; the others are counted. */
export const findings = (): Findings => {
  const listed: Finding[] = []
  const countOf = new Map<string, number>()
  let unlisted = 0
  return {
    add: (finding) => {
      const stream = finding.stream ?? ''
      const count = countOf.get(stream) ?? 0
      countOf.set(stream, count + 1)
      if (listed.length < listedMax && count < listedMaxOfStream) listed.push(finding)
      else unlisted += 1
    },
    list: () =>
      unlisted === 0 ? listed : [...listed, { rule: 'more', message: `${unlisted} more findings are not listed` }],
  }
}

/** Tells what is wrong with one event. */
export type Report = (rule: string, message: string) => void

/** The finding names the event's stream, revision and position. */
export const findingAt = (event: StoredEvent, rule: string, message: string): Finding => {
  const { stream, revision, position } = event
  const jobId = jobOfStream(stream)
  return { rule, message, ...(jobId === null ? {} : { jobId }), stream, revision, position }
}
