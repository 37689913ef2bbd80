import type { JobEvent, UnknownEvent } from '../../domain/job/events.ts'
import type { Position } from '../../domain/ports/eventStore.ts'

/** What is told of the log: each event of the query once and in order, and now and then how far that reaches. */
export type FollowedFrame =
  | { readonly kind: 'event'; readonly position: Position; readonly event: JobEvent | UnknownEvent }
  | { readonly kind: 'caught_up'; readonly position: Position }

/** The last frame of a connection that the server ends. */
export type ErrorFrame = { readonly kind: 'error'; readonly code: string; readonly message: string }

/** Reads a frame; null for a kind that is newer than this program. Raises for what is no frame at all. */
export const readFrame = (text: unknown): FollowedFrame | ErrorFrame | null => {
  const frame: unknown = JSON.parse(String(text))
  if (typeof frame !== 'object' || frame === null || !('kind' in frame)) throw new SyntaxError('not a frame')
  return isFrame(frame) ? frame : null
}

// The server has checked every event as it read it.
const isFrame = (frame: object & Record<'kind', unknown>): frame is FollowedFrame | ErrorFrame => {
  const { kind } = frame
  if (kind === 'error') return true
  return (kind === 'event' || kind === 'caught_up') && 'position' in frame && typeof frame.position === 'string'
}
