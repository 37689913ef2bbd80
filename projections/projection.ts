import type { JobEvent } from '../domain/job/events.ts'

/** Where a document is found: in the lists it names, at this place (compared lexically). */
export type Place = { readonly terms: readonly string[]; readonly sort: string }

/**
 * A pure fold of the log into documents of plain JSON, one a key. Its name and version name the view; raise the
 * version whenever the same events would fold to other documents or other places.
 */
export type Projection<View> = {
  readonly name: string
  readonly version: number
  /** The document this event belongs to, or null when it changes none. */
  keyOf(event: JobEvent): string | null
  /** The document after this event; null when there is none (any more). Never changes `view`. */
  project(view: View | null, event: JobEvent): View | null
  place(view: View): Place
}
