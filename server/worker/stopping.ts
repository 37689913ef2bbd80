import { setMaxListeners } from 'node:events'
import type { EventData } from '../../domain/job/events.ts'
import type { Wish } from './jobWriter.ts'

/** Why an attempt ends before its stages do. */
export type StopReason =
  | { readonly kind: 'pause' }
  | { readonly kind: 'budget_exhausted'; readonly exhausted: EventData<'BudgetExhausted'> }
  | { readonly kind: 'overrun' | 'unknown_outcome' | 'artifact_missing'; readonly detail: string }
  | { readonly kind: 'wait'; readonly wish: Extract<Wish, { type: 'WaitOut' }> }
  | { readonly kind: 'drain' }
  /** The stage has failed: its other calls end, and no new one is paid for. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'cancel' }
  | { readonly kind: 'lost' }

const weight = (reason: StopReason | null): number =>
  reason === null ? 0 : reason.kind === 'lost' ? 3 : reason.kind === 'cancel' ? 2 : 1

/** One attempt's way to its end: the first reason holds, but a cancel overrides it, and a lost lease overrides all. */
export type Stopping = {
  readonly reason: StopReason | null
  /** Aborts at the first reason: nothing new is started. */
  readonly soft: AbortSignal
  /** Aborts when even what is under way must end. */
  readonly hard: AbortSignal
  /** Aborts when stores that are away are waited for no longer. */
  readonly abandon: AbortSignal
  stop(reason: StopReason): void
  /** Ends what is under way. */
  cut(): void
  /** Ends even the recording of what is under way. */
  giveUp(): void
  /** Called for each reason that takes hold, at once for one that already has. */
  onStop(listener: (reason: StopReason) => void): void
}

export const stopping = (): Stopping => {
  const soft = new AbortController()
  const hard = new AbortController()
  const abandon = new AbortController()
  // One listener for each open call: more than ten are no leak.
  setMaxListeners(0, soft.signal, hard.signal, abandon.signal)
  const listeners: ((reason: StopReason) => void)[] = []
  let reason: StopReason | null = null
  return {
    get reason() {
      return reason
    },
    soft: soft.signal,
    hard: hard.signal,
    abandon: abandon.signal,
    stop(next) {
      if (weight(next) <= weight(reason)) return
      reason = next
      soft.abort()
      if (next.kind === 'lost') {
        hard.abort()
        abandon.abort()
      }
      for (const listener of listeners) listener(next)
    },
    cut: () => hard.abort(),
    giveUp: () => abandon.abort(),
    onStop(listener) {
      listeners.push(listener)
      if (reason !== null) listener(reason)
    },
  }
}
