import type { ExpectedRevision, SealedEvent } from '../../domain/ports/eventStore.ts'

export type Append = {
  readonly stream: string
  readonly events: readonly SealedEvent[]
  readonly expectedRevision: ExpectedRevision
}

/** What became of one append of a group: null, or the reason why it alone wrote nothing. */
export type Outcome = unknown

// Bounds how long one group may block the event loop.
const groupMax = 500

type Waiting = { readonly append: Append; readonly done: () => void; readonly failed: (error: unknown) => void }

/**
 * Collects the appends of concurrent callers and commits them as one group, so that they share one fsync.
 * `commitGroup` answers each append's outcome, or raises when the whole group failed. One group at a time.
 */
export const groupCommit = (commitGroup: (group: readonly Append[]) => Promise<readonly Outcome[]>) => {
  const waiting: Waiting[] = []
  let working: Promise<void> | null = null

  const commitAll = async (): Promise<void> => {
    while (waiting.length > 0) {
      // A turn of the event loop lets every caller that is about to append join this group.
      await new Promise((resolve) => setImmediate(resolve))
      const group = waiting.splice(0, groupMax)
      try {
        const outcomes = await commitGroup(group.map(({ append }) => append))
        group.forEach(({ done, failed }, index) => {
          const outcome = outcomes[index] ?? null
          if (outcome === null) done()
          else failed(outcome)
        })
      } catch (error) {
        for (const { failed } of group) failed(error)
      }
    }
    working = null
  }

  return {
    /** Resolves when the append is durable. */
    add: (append: Append): Promise<void> =>
      new Promise((done, failed) => {
        waiting.push({ append, done, failed })
        working ??= commitAll()
      }),
    /** Resolves when nothing waits any more. Never rejects. */
    settled: async (): Promise<void> => {
      await working
    },
  }
}
