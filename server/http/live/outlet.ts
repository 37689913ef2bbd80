import type { Position } from '../../../domain/ports/eventStore.ts'
import type { LiveEntry } from './liveEntry.ts'

/** Where frames leave the process. Nothing is kept beyond what is on its way. */
export interface Outlet {
  event(entry: LiveEntry): void
  caughtUp(position: Position): void
  /** Shows that the connection is alive, where there is no other way. */
  alive(): void
  /** Whether so much waits to be sent that no more should be added. */
  isFull(): boolean
  /** Resolves when what was added is on its way, or the signal aborts. Never rejects. */
  drained(signal: AbortSignal): Promise<void>
}

/** What may wait in this process for one slow reader. */
export const waitingBytesMax = 65_536

/** What a peer that does not end by itself is given. */
export const closeMs = 2_000

type Stream = {
  cork(): void
  uncork(): void
  once(event: 'drain', listener: () => void): unknown
  off(event: 'drain', listener: () => void): unknown
}

/** Makes one write of everything that is added in a turn of the event loop. */
export const coalesced = (stream: Stream): (() => void) => {
  let corked = false
  const send = (): void => {
    corked = false
    stream.uncork()
  }
  return () => {
    if (corked) return
    corked = true
    stream.cork()
    process.nextTick(send)
  }
}

export const drainOf = (stream: Stream, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve()
    const done = (): void => {
      stream.off('drain', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    stream.once('drain', done)
    signal.addEventListener('abort', done)
  })
