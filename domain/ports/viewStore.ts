import type { Position } from './eventStore.ts'

/** One document of a view. `value` is JSON text, so that two stores can be compared byte for byte. */
export type ViewDocument = {
  readonly key: string
  readonly value: string
  /** Lists the document can be found in. */
  readonly terms: readonly string[]
  /** Its place in those lists, compared lexically; the key breaks ties. */
  readonly sort: string
}

export type ViewChange =
  | { readonly kind: 'put'; readonly document: ViewDocument }
  | { readonly kind: 'remove'; readonly key: string }

/** How far a view has read: the position of the last event folded, and that event's id to know the log by. */
export type ViewCheckpoint = { readonly position: Position; readonly eventId: string }

/** The place behind one document of a list: where the next page starts. */
export type ListPlace = { readonly sort: string; readonly key: string }

/**
 * Disposable folds of the log, one set of documents a projection and version.
 * Every adapter passes `test/contract/viewStoreContract.ts`. Any verb may raise `StoreUnavailable`.
 */
export interface ViewStore {
  /** The checkpoint of a view, or null when it was never built. */
  checkpoint(projection: string, version: number): Promise<ViewCheckpoint | null>
  /** The documents with these keys; those that are not there are left out. */
  load(projection: string, version: number, keys: readonly string[]): Promise<readonly ViewDocument[]>
  /**
   * Applies the changes and moves the checkpoint, in one transaction, if the checkpoint still is `from`.
   * Answers false, having changed nothing, when somebody else has moved it.
   */
  commit(
    projection: string,
    version: number,
    move: { from: ViewCheckpoint | null; to: ViewCheckpoint },
    changes: readonly ViewChange[],
  ): Promise<boolean>
  /** Documents of the list `term` in order of sort, then key, behind `after`. At most `limit` (default 100). */
  query(
    projection: string,
    version: number,
    list: { term: string; after?: ListPlace; limit?: number },
  ): Promise<readonly ViewDocument[]>
  /** Every document in order of key, behind the key `after`. At most `limit` (default 1 000). */
  scan(projection: string, version: number, page?: { after?: string; limit?: number }): Promise<readonly ViewDocument[]>
  /** Forgets a view: its documents and its checkpoint. */
  drop(projection: string, version: number): Promise<void>
  /** What is stored, by name and version. */
  list(): Promise<readonly { name: string; version: number; checkpoint: ViewCheckpoint; documents: number }[]>
  close(): Promise<void>
}

/** A saved fold of one stream. Disposable: whoever loads one checks it against the log. */
export type Snapshot = {
  readonly revision: number
  /** Hash of the event at `revision`. */
  readonly hash: string
  /** Version of the fold that made it. */
  readonly foldVersion: number
  /** JSON text. */
  readonly state: string
  /** SHA-256 of `state`. */
  readonly checksum: string
}

export interface SnapshotStore {
  loadSnapshot(stream: string): Promise<Snapshot | null>
  /** Replaces the stream's snapshot unless the stored one is of a later revision and the same fold version. */
  saveSnapshot(stream: string, snapshot: Snapshot): Promise<void>
}
