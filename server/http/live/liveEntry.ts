import type { Position } from '../../../domain/ports/eventStore.ts'
import type { LiveFrame } from '../../engine.ts'

/** An event on its way to any number of followers: made into text once for all of them. */
export type LiveEntry = {
  readonly position: Position
  readonly jobId: string
  readonly projectId: string
  readonly type: string
  /** The whole frame as JSON in UTF-8. Never changed by who sends it. */
  readonly frame: Buffer
}

/** What a follower wants to hear of. All parts must hold. */
export type LiveFilter = {
  readonly jobId?: string
  readonly projectIds?: readonly string[]
  readonly types?: readonly string[]
}

type EventFrame = Extract<LiveFrame, { kind: 'event' }>

export const liveEntry = (frame: EventFrame): LiveEntry => {
  const { event, position } = frame
  return {
    position,
    jobId: event.jobId,
    projectId: projectOf(event.meta),
    type: event.type === 'Unknown' ? event.storedType : event.type,
    frame: Buffer.from(JSON.stringify(frame)),
  }
}

export const passes = (entry: LiveEntry, { jobId, projectIds, types }: LiveFilter): boolean =>
  (jobId === undefined || entry.jobId === jobId) &&
  (projectIds === undefined || projectIds.includes(entry.projectId)) &&
  (types === undefined || types.includes(entry.type))

/** Of any event, also of one that this program cannot read: '' where it says none. */
const projectOf = (meta: unknown): string =>
  typeof meta === 'object' && meta !== null && 'projectId' in meta && typeof meta.projectId === 'string' ? meta.projectId : ''
