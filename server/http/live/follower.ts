import type { Clock } from '../../../domain/ports/clock.ts'
import type { Position } from '../../../domain/ports/eventStore.ts'
import type { LiveFrame, LiveQuery } from '../../engine.ts'
import { type LiveEntry, liveEntry } from './liveEntry.ts'
import type { LiveHub } from './liveHub.ts'
import type { LiveTail } from './liveTail.ts'
import type { Outlet } from './outlet.ts'

/** What a follower follows, with the id of its job rather than any handle of it. */
export type Following = {
  /** Raises what whoever follows may not see. */
  live(query: LiveQuery, signal: AbortSignal): AsyncIterable<LiveFrame>
  readonly query: LiveQuery
  readonly outlet: Outlet
  readonly signal: AbortSignal
}

export type Follower = {
  /** Until the signal aborts. Raises what `Engine.live` does. */
  run(): Promise<void>
  /** To be told the monotonic time about every second. */
  beat(now: number): void
}

/** A reader that takes longer than this lets go of the page of the log that it was read from. */
const holdMs = 1_000
/** Nobody who is told nothing else waits longer than this for a sign. */
const quietMsMax = 10_000

/**
 * Tells one follower every event of its query exactly once and in order: from the log while it is behind, from the
 * tail that all share once it is not. However slowly it reads, nothing is kept for it but its position.
 */
export const follower = (hub: LiveHub, clock: Clock, { live, query, outlet, signal }: Following): Follower => {
  const { after, ...filter } = query
  let position = after
  let tail: LiveTail | null = null
  let isWaiting = false
  let owesMark = true
  let [told, toldBefore] = [0, 0]
  let [quietSince, lastBeat] = [clock.monotonic(), clock.monotonic()]

  const tell = (entry: LiveEntry): void => {
    outlet.event(entry)
    told += 1
  }
  const mark = (reached: Position): void => {
    outlet.caughtUp(reached)
    told += 1
  }

  const drainsSoon = async (): Promise<boolean> => {
    const decided = new AbortController()
    const drained = outlet.drained(signal).then(() => true)
    const isDrained = await Promise.race([drained, clock.sleep(holdMs, decided.signal).then(() => false)])
    decided.abort()
    return isDrained
  }

  /** To the place where the tail goes on, or until it has to wait long. */
  const readLog = async (): Promise<void> => {
    for await (const frame of live(position === undefined ? query : { ...filter, after: position }, signal)) {
      if (signal.aborted) return
      position = frame.position
      if (frame.kind === 'event') {
        tell(liveEntry(frame))
        owesMark = true
        if (outlet.isFull() && !(await drainsSoon())) return
      } else if ((tail = hub.join(position)) !== null) {
        if (owesMark) mark(position)
        owesMark = false
        return
      }
    }
  }

  /** As much as goes out now. Answers how far that was. */
  const tellNewest = (newest: LiveTail, reached: Position): Position => {
    for (const entry of newest.after(reached, filter)) {
      tell(entry)
      if (outlet.isFull()) return entry.position
    }
    return newest.head() > reached ? newest.head() : reached
  }

  const followTail = async (newest: LiveTail, joined: Position): Promise<void> => {
    let reached = joined
    while (newest.reaches(reached) && !signal.aborted) {
      reached = position = tellNewest(newest, reached)
      if (outlet.isFull()) await outlet.drained(signal)
      else {
        isWaiting = true
        reached = position = await newest.past(reached, filter, signal)
        isWaiting = false
      }
    }
  }

  return {
    async run() {
      while (!signal.aborted) {
        await readLog()
        if (tail !== null && position !== undefined) await followTail(tail, position)
        tail = null
        if (outlet.isFull()) await outlet.drained(signal)
      }
    },
    beat(now) {
      // What was told since the last beat may have been told right behind it.
      if (told !== toldBefore) quietSince = lastBeat
      toldBefore = told
      lastBeat = now
      if (now - quietSince < quietMsMax || outlet.isFull()) return
      quietSince = now
      if (!isWaiting || tail === null || position === undefined) outlet.alive()
      else outlet.caughtUp(tail.head() > position ? tail.head() : position)
    },
  }
}
