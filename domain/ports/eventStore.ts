/** Where an event stands in the whole log: opaque, and its lexical order is log order. Never do arithmetic on it. */
export type Position = string

/** The position before every event of any log. */
export const beforeAll: Position = ''

/** What an append demands of its stream: that it has no event yet, or that its last event has this revision. */
export type ExpectedRevision = 'no-stream' | number

/** An event as it is stored: `data` and `meta` are JSON text made once, and `hash` covers exactly that text. */
export type SealedEvent = {
  readonly id: string
  readonly stream: string
  /** Place in the stream, 0-based. */
  readonly revision: number
  readonly type: string
  readonly schemaVersion: number
  /** ISO 8601 UTC, by the writer's clock. */
  readonly recordedAt: string
  readonly data: string
  readonly meta: string
  /** Lower-case hex SHA-256, chained to the event before (`domain/seal.ts`). */
  readonly hash: string
}

export type StoredEvent = SealedEvent & { readonly position: Position }

/** Both parts must hold. Empty or absent parts let everything pass. */
export type EventFilter = {
  readonly streamPrefix?: string
  readonly types?: readonly string[]
}

export type LogPage = {
  readonly events: readonly StoredEvent[]
  /** How far the log was looked through, counting what the filter hid. Read on from here. */
  readonly scannedTo: Position
  /** True when nothing stood behind `scannedTo` at the time of reading. */
  readonly atEnd: boolean
}

export type Delivery =
  | { readonly kind: 'event'; readonly event: StoredEvent }
  /** Everything up to `position` has been delivered (or hidden by the filter). */
  | { readonly kind: 'caughtUp'; readonly position: Position }

/** Portable limit of one append in bytes: data, meta and type names of all its events together. */
export const appendBytesMax = 1_048_576

/**
 * The log. Every adapter passes `test/contract/eventStoreContract.ts`.
 *
 * Besides what each verb raises, any verb may raise `StoreUnavailable` (nothing is known to be wrong with the
 * request; ask again later). After an append it means that the outcome is unknown: repeat the same bytes.
 */
export interface EventStore {
  /**
   * All or nothing. The events carry their revisions, which follow `expectedRevision` without a gap.
   *
   * An identical append (the same ids, standing right after `expectedRevision`) is a success and writes nothing.
   * Raises `RevisionConflict` when the stream has moved on, `AppendTooLarge` before anything is written, and an
   * `Error` (a fault) when one of the ids stands anywhere else. An empty list appends nothing.
   */
  append(stream: string, events: readonly SealedEvent[], expectedRevision: ExpectedRevision): Promise<void>
  /**
   * Events of one stream in order of revision, `from` included. `backwards` without `from` starts at the last one.
   * A missing stream is empty. At most `limit` events (default 1 000).
   */
  readStream(
    stream: string,
    options?: { from?: number; direction?: 'forwards' | 'backwards'; limit?: number },
  ): Promise<readonly StoredEvent[]>
  /** Events in log order behind `after` (default: from the start). At most `limit` events (default 1 000). */
  readAll(options?: { after?: Position; limit?: number; filter?: EventFilter }): Promise<LogPage>
  /**
   * Catches up from behind `after`, then stays live: in log order, at least once, over connection losses.
   * `caughtUp` comes at each seam between the two, also when there was nothing to deliver. Ends when aborted.
   */
  subscribe(options: { after: Position; filter?: EventFilter; signal: AbortSignal }): AsyncIterable<Delivery>
  /** The position of the last event, or `beforeAll`. */
  head(): Promise<Position>
  close(): Promise<void>
}
