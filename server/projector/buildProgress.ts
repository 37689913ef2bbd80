import type { Position } from '../../domain/ports/eventStore.ts'

/** How far a view is that is being built, by this process. */
export type BuildProgress = {
  readonly projection: string
  readonly position: Position
  /** Folded by this process. */
  readonly events: number
  readonly done: boolean
}
