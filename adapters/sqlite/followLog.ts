import { setImmediate as othersTurn } from 'node:timers/promises'
import { StoreUnavailable } from '../../domain/errors.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { Delivery, EventFilter, LogPage, Position } from '../../domain/ports/eventStore.ts'
import type { LogNews } from './logNews.ts'

export type LogSource = {
  /** A page of the log as it is now. */
  readonly read: (after: Position, filter: EventFilter) => Promise<LogPage>
  /** The same for whoever has been at the end before; may know of no more than the news told. */
  readonly readNewest: (after: Position, filter: EventFilter) => Promise<LogPage>
  readonly news: LogNews
  readonly clock: Clock
}

const waitMsMin = 50
const waitMsMax = 2000

/**
 * A cursor over the log: reads a page, hands it out, and only then reads on, so a slow consumer costs nothing.
 * Waits out an unavailable store. Ends when aborted.
 */
export async function* followLog(
  { read, readNewest, news, clock }: LogSource,
  { after, filter = {}, signal }: { after: Position; filter?: EventFilter; signal: AbortSignal },
): AsyncGenerator<Delivery> {
  let position = after
  let caughtUpTo: Position | null = null
  let waitMs = waitMsMin
  while (!signal.aborted) {
    // Counted before the look, so that what is committed after it wakes us.
    const rung = news.rung()
    const page = await orNull(caughtUpTo === null ? read(position, filter) : readNewest(position, filter))
    if (page === null) {
      await clock.sleep(waitMs, signal)
      waitMs = Math.min(waitMs * 2, waitMsMax)
      continue
    }
    waitMs = waitMsMin
    for (const event of page.events) {
      if (signal.aborted) return
      yield { kind: 'event', event }
    }
    position = page.scannedTo
    if (!page.atEnd) {
      // Reading is synchronous: a long log that a filter hides would keep everybody else from their turn.
      await othersTurn()
      continue
    }
    if (signal.aborted) continue
    if (caughtUpTo !== position) yield { kind: 'caughtUp', position }
    caughtUpTo = position
    await news.past(rung, signal)
  }
}

const orNull = async (reading: Promise<LogPage>): Promise<LogPage | null> => {
  try {
    return await reading
  } catch (error) {
    if (error instanceof StoreUnavailable) return null
    throw error
  }
}
