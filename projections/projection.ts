import type { z } from 'zod'
import type { JobEvent, UnknownEvent } from '../domain/job/events.ts'

/** What the log holds of jobs, also events newer than this program, which no projection may choke on. */
export type LogEvent = JobEvent | UnknownEvent

/** Where a document is found: in the lists it names, at this place (compared lexically; the key breaks ties). */
export type Place = { readonly terms: readonly string[]; readonly sort: string }

/**
 * A pure fold of the log into documents of plain JSON, one a key. Its name and version name the view; raise the
 * version whenever the same events would fold to other documents or other places.
 */
export type Projection<View> = {
  readonly name: string
  readonly version: number
  /** What a stored document must fit: by it the projector and every reader of the view parse. */
  readonly schema: z.ZodType<View>
  /** The document this event belongs to, or null when it changes none. */
  keyOf(event: LogEvent): string | null
  /**
   * The document after this event; null when there is none (any more). Never changes `view`. It fits the schema,
   * and no field of it is undefined, so that two builds are equal byte for byte wherever they were interrupted.
   */
  project(view: View | null, event: LogEvent): View | null
  place(view: View): Place
}

/** A projection whose document type is that of its schema. */
export const defineProjection = <View>(projection: Projection<View>): Projection<View> => projection
