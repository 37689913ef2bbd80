import { setImmediate as others } from 'node:timers/promises'
import type { Position } from '../../../domain/ports/eventStore.ts'
import type { LiveFrame } from '../../engine.ts'
import { type LiveEntry, liveEntry } from './liveEntry.ts'
import { type LiveTail, liveTail } from './liveTail.ts'

/** One cursor at the end of the log for everybody who is there. */
export type LiveHub = {
  /** The tail for whoever has got this far, or null while it does not reach back to there. */
  join(position: Position): LiveTail | null
  /** Ends the tail while nobody needs it. The next to join starts another. */
  rest(): void
}

type Following = {
  /** Every event behind a place, as it comes. */
  follow(after: Position, signal: AbortSignal): AsyncIterable<LiveFrame>
  fault(error: unknown): void
}

/** What is told at one go. Less than a follower may hold unsent, so that one who keeps up is never left behind. */
const toldBytesMax = 32_768

export const liveHub = ({ follow, fault }: Following): LiveHub => {
  let current: { readonly tail: LiveTail; readonly ending: AbortController } | null = null

  const lead = async (tail: LiveTail, signal: AbortSignal): Promise<void> => {
    let untold: LiveEntry[] = []
    let bytes = 0
    for await (const frame of follow(tail.head(), signal)) {
      if (frame.kind === 'event') {
        const entry = liveEntry(frame)
        untold.push(entry)
        bytes += entry.frame.length
        if (bytes < toldBytesMax) continue
      }
      tail.tell(untold, frame.position)
      const isMore = frame.kind === 'event'
      untold = []
      bytes = 0
      // Followers send what they were told before they are told more.
      if (isMore) await others()
    }
  }

  const start = (position: Position): LiveTail => {
    const ending = new AbortController()
    const tail = liveTail(position)
    current = { tail, ending }
    lead(tail, ending.signal)
      .catch(fault)
      .finally(() => {
        if (current?.tail === tail) current = null
        // Whoever was here goes on from the log, which tells each what is wrong with what they follow.
        tail.end()
      })
    return tail
  }

  return {
    join: (position) => {
      const tail = current?.tail ?? start(position)
      return tail.reaches(position) ? tail : null
    },
    rest: () => {
      current?.ending.abort()
      current = null
    },
  }
}
