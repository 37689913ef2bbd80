import type { Position } from '../../../domain/ports/eventStore.ts'
import { type LiveEntry, type LiveFilter, passes } from './liveEntry.ts'

/**
 * The newest events, kept for all who follow the end of the log: each is read and made into text once, however many
 * follow. Whoever is further behind than this reaches has to read the log.
 */
export type LiveTail = {
  /** How far everything has been told. */
  head(): Position
  /** Whether everything behind this place is here. */
  reaches(position: Position): boolean
  /** What passes behind this place. Ask `reaches` first. */
  after(position: Position, filter: LiveFilter): readonly LiveEntry[]
  /**
   * Resolves once something behind the place may have passed, with how far nothing has; also when the signal aborts
   * and when the tail ends. Never rejects.
   */
  past(position: Position, filter: LiveFilter, signal: AbortSignal): Promise<Position>
  /** Tells of events that follow the head, and that all is told up to `head`. */
  tell(entries: readonly LiveEntry[], head: Position): void
  /** Nothing more is told: sends everybody back to the log. */
  end(): void
}

type Waiter = { readonly filter: LiveFilter; wake(reached: Position): void }

/** What is kept when some has to go; it may grow to twice as much before that. */
const keptBytes = 524_288
const keptEntries = 2_000
/** Where those wait who do not follow one job. */
const anyJob = ''

export const liveTail = (start: Position): LiveTail => {
  const waiting = new Map<string, Set<Waiter>>()
  const entries: LiveEntry[] = []
  let bytes = 0
  let [from, head] = [start, start]
  let ended = false

  const wait = (waiter: Waiter): void => {
    const job = waiter.filter.jobId ?? anyJob
    const others = waiting.get(job)
    if (others === undefined) waiting.set(job, new Set([waiter]))
    else others.add(waiter)
  }
  const leave = (waiter: Waiter): void => {
    const job = waiter.filter.jobId ?? anyJob
    const others = waiting.get(job)
    others?.delete(waiter)
    if (others?.size === 0) waiting.delete(job)
  }

  const keep = (told: readonly LiveEntry[]): void => {
    for (const entry of told) {
      entries.push(entry)
      bytes += entry.frame.length
    }
    if (bytes <= 2 * keptBytes && entries.length <= 2 * keptEntries) return
    const dropped = entries.splice(0, tooOld(entries, told.length))
    from = dropped.at(-1)?.position ?? from
    for (const entry of dropped) bytes -= entry.frame.length
  }

  return {
    head: () => head,
    reaches: (position) => !ended && position >= from,
    after: (position, filter) => entries.slice(firstBehind(entries, position)).filter((entry) => passes(entry, filter)),
    past: (position, filter, signal) =>
      new Promise((resolve) => {
        if (ended || signal.aborted) return resolve(position)
        const waiter: Waiter = {
          filter,
          wake: (reached) => {
            leave(waiter)
            signal.removeEventListener('abort', away)
            // Who joined from a place that this tail had not reached yet is not to be sent back.
            resolve(reached > position ? reached : position)
          },
        }
        const away = (): void => waiter.wake(position)
        signal.addEventListener('abort', away)
        wait(waiter)
      }),
    tell: (told, reached) => {
      const before = head
      keep(told)
      head = reached
      for (const entry of told) {
        for (const job of [entry.jobId, anyJob]) {
          for (const waiter of waiting.get(job) ?? []) if (passes(entry, waiter.filter)) waiter.wake(before)
        }
      }
    },
    end: () => {
      ended = true
      for (const waiters of waiting.values()) for (const waiter of waiters) waiter.wake(head)
    },
  }
}

/** The newest are asked for most, so the search begins with them. */
const firstBehind = (entries: readonly LiveEntry[], position: Position): number =>
  entries.findLastIndex((entry) => entry.position <= position) + 1

/** How many of the oldest go, so that what is left keeps within the limits. What was just told stays in any case. */
const tooOld = (entries: readonly LiveEntry[], newest: number): number => {
  let bytes = 0
  for (let kept = 0; kept < entries.length; kept += 1) {
    bytes += entries[entries.length - 1 - kept]?.frame.length ?? 0
    if (kept >= newest && (kept >= keptEntries || bytes > keptBytes)) return entries.length - kept
  }
  return 0
}
