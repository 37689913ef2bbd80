import { z } from 'zod'
import type { UnknownEvent } from '../../domain/job/events.ts'
import { schemaVersions } from '../../domain/job/events.ts'
import type { EventStore, StoredEvent } from '../../domain/ports/eventStore.ts'
import type { ViewCheckpoint } from '../../domain/ports/viewStore.ts'

/** What a checkpoint keeps of its event, so that the log can be asked whether it has that event at that place. */
const ViewMark = z.strictObject({
  id: z.string(),
  stream: z.string(),
  revision: z.int().nonnegative(),
  /** `type:schemaVersion` of events that were newer than the program that built the view. */
  unread: z.array(z.string()),
  /** How often documents were put right at this place; makes the mark another one for whoever folds meanwhile. */
  repairs: z.int().nonnegative(),
})
type ViewMark = z.infer<typeof ViewMark>

const checkpointOf = (position: string, mark: ViewMark): ViewCheckpoint => ({ position, eventId: JSON.stringify(mark) })

/** Null for what this program has not written. */
const readMark = (checkpoint: ViewCheckpoint): ViewMark | null => {
  try {
    return ViewMark.parse(JSON.parse(checkpoint.eventId))
  } catch {
    return null
  }
}

/** The checkpoint of a view that stood at `before` and has now folded up to this event. */
export const checkpointAt = (
  { id, stream, revision, position }: StoredEvent,
  before: ViewCheckpoint | null,
  unknown: readonly UnknownEvent[],
): ViewCheckpoint => {
  const already = before === null ? [] : (readMark(before)?.unread ?? [])
  const unread = new Set([...already, ...unknown.map((event) => `${event.storedType}:${event.schemaVersion}`)])
  return checkpointOf(position, { id, stream, revision, unread: [...unread].toSorted(), repairs: 0 })
}

/** The same place, told from what it was before documents were put right there. Null for a foreign mark. */
export const repairedAt = (checkpoint: ViewCheckpoint): ViewCheckpoint | null => {
  const mark = readMark(checkpoint)
  return mark === null ? null : checkpointOf(checkpoint.position, { ...mark, repairs: mark.repairs + 1 })
}

const isKnownNow = (unread: string): boolean =>
  Object.entries(schemaVersions).some(([type, version]) => {
    const stored = unread.startsWith(`${type}:`) ? Number(unread.slice(type.length + 1)) : Number.NaN
    return stored <= version
  })

/**
 * Why a view that stands at this checkpoint cannot be gone on with, or null when it can: its event is not in this
 * log, or it was built by an older program that could not read what this one can.
 */
export const whyRebuild = async (
  events: Pick<EventStore, 'readStream'>,
  checkpoint: ViewCheckpoint,
): Promise<string | null> => {
  const mark = readMark(checkpoint)
  if (mark === null) return 'its checkpoint cannot be read'
  const [found] = await events.readStream(mark.stream, { from: mark.revision, limit: 1 })
  if (found?.id !== mark.id || found.position !== checkpoint.position) return 'it was built from another log'
  return mark.unread.some(isKnownNow) ? 'this program reads events that its builder did not know' : null
}
