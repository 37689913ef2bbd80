import { z } from 'zod'
import type { EventStore, StoredEvent } from '../../domain/ports/eventStore.ts'
import type { ViewCheckpoint } from '../../domain/ports/viewStore.ts'

/** What a checkpoint of a hook keeps beside its position. */
const Mark = z.strictObject({
  /** The ending at that position, to know the log by; null where the cursor began, between two events. */
  read: z.strictObject({ id: z.string(), stream: z.string(), revision: z.int().nonnegative() }).nullable(),
  /** Counts commits, so that each leaves another checkpoint: one that was meant for an earlier one is refused. */
  commits: z.int().nonnegative(),
})
type Mark = z.infer<typeof Mark>

const checkpointOf = (position: string, mark: Mark): ViewCheckpoint => ({ position, eventId: JSON.stringify(mark) })

export const cursorAtHead = (position: string): ViewCheckpoint => checkpointOf(position, { read: null, commits: 0 })

const readMark = (checkpoint: ViewCheckpoint): Mark => Mark.parse(JSON.parse(checkpoint.eventId))

/** Behind `last`, or in the same place where there is none; never equal to what it was. */
export const movedOn = (before: ViewCheckpoint, last: StoredEvent | undefined): ViewCheckpoint => {
  const { read, commits } = readMark(before)
  if (last === undefined) return checkpointOf(before.position, { read, commits: commits + 1 })
  const { id, stream, revision, position } = last
  return checkpointOf(position, { read: { id, stream, revision }, commits: commits + 1 })
}

/** False for a cursor of another log, or one that cannot be read. */
export const isOfLog = async (
  checkpoint: ViewCheckpoint,
  events: Pick<EventStore, 'readStream' | 'head'>,
): Promise<boolean> => {
  const mark = Mark.safeParse(parsedOrNull(checkpoint.eventId))
  if (!mark.success || checkpoint.position > (await events.head())) return false
  const { read } = mark.data
  if (read === null) return true
  const [found] = await events.readStream(read.stream, { from: read.revision, limit: 1 })
  return found?.id === read.id && found.position === checkpoint.position
}

const parsedOrNull = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
