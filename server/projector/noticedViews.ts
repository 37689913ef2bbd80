import type { SnapshotStore, ViewStore } from '../../domain/ports/viewStore.ts'

export type NoticedViews = {
  readonly views: ViewStore & SnapshotStore
  /** Calls back after each commit by this process that changed the view. Answers how to stop that. */
  onCommit(projection: string, listener: () => void): () => void
}

/** Views whose changes can be heard of in this process, so that loops need not wait for their next look. */
export const noticedViews = (store: ViewStore & SnapshotStore): NoticedViews => {
  const listeners = new Map<() => void, string>()
  return {
    views: {
      ...store,
      async commit(projection, version, move, changes) {
        const moved = await store.commit(projection, version, move, changes)
        if (moved && changes.length > 0) {
          for (const [listener, name] of listeners) if (name === projection) listener()
        }
        return moved
      },
    },
    onCommit(projection, listener) {
      listeners.set(listener, projection)
      return () => void listeners.delete(listener)
    },
  }
}
