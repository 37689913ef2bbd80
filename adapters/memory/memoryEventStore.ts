import { RevisionConflict } from '../../domain/errors.ts'
import { beforeAll } from '../../domain/ports/eventStore.ts'
import type {
  Delivery,
  EventFilter,
  EventStore,
  ExpectedRevision,
  LogPage,
  Position,
  SealedEvent,
  StoredEvent,
} from '../../domain/ports/eventStore.ts'
import { checkAppend, firstRevision } from '../../domain/appendRules.ts'
import { bell } from '../../domain/bell.ts'
import { numberOf, positionOf } from '../../domain/numberedPosition.ts'

const pageSize = 1000

/** The log in an array: the reference that the other stores are compared with. Lost with the process. */
export const memoryEventStore = (): EventStore => {
  const log: StoredEvent[] = []
  const streams = new Map<string, StoredEvent[]>()
  const byId = new Map<string, StoredEvent>()
  const appended = bell()
  let closed = false

  const append = async (
    stream: string,
    events: readonly SealedEvent[],
    expectedRevision: ExpectedRevision,
  ): Promise<void> => {
    checkAppend(stream, events, expectedRevision)
    if (events.length === 0) return
    const stored = streams.get(stream) ?? []
    const first = firstRevision(expectedRevision)
    if (stored.length !== first) {
      // An identical append is a repeat, whatever has been appended since.
      if (events.every((event, index) => stored[first + index]?.id === event.id)) return
      throw new RevisionConflict(stream, expectedRevision, stored.length === 0 ? 'no-stream' : stored.length - 1)
    }
    for (const { id } of events) {
      const other = byId.get(id)
      if (other !== undefined) throw new Error(`event ${id} already stands in ${other.stream} at ${other.revision}`)
    }
    for (const event of events) {
      const recorded = { ...event, position: positionOf(log.length + 1) }
      log.push(recorded)
      stored.push(recorded)
      byId.set(event.id, recorded)
    }
    streams.set(stream, stored)
    appended.ring()
  }

  const readStream: EventStore['readStream'] = async (
    stream,
    { from, direction = 'forwards', limit = pageSize } = {},
  ) => {
    const stored = streams.get(stream) ?? []
    return direction === 'forwards'
      ? stored.slice(from ?? 0).slice(0, limit)
      : stored.slice(0, (from ?? stored.length) + 1).toReversed().slice(0, limit)
  }

  const readAll = async ({
    after = beforeAll,
    limit = pageSize,
    filter = {},
  }: { after?: Position; limit?: number; filter?: EventFilter } = {}): Promise<LogPage> => {
    const events: StoredEvent[] = []
    let scannedTo = after
    for (const event of log.slice(numberOf(after))) {
      if (events.length === limit) break
      if (passes(event, filter)) events.push(event)
      scannedTo = event.position
    }
    return { events, scannedTo, atEnd: numberOf(scannedTo) >= log.length }
  }

  async function* subscribe({
    after,
    filter = {},
    signal,
  }: {
    after: Position
    filter?: EventFilter
    signal: AbortSignal
  }): AsyncGenerator<Delivery> {
    const ended = (): boolean => closed || signal.aborted
    let position = after
    let caughtUpTo: Position | null = null
    while (!ended()) {
      const rung = appended.rung()
      const page = await readAll({ after: position, filter })
      for (const event of page.events) {
        if (ended()) return
        yield { kind: 'event', event }
      }
      position = page.scannedTo
      if (!page.atEnd) continue
      if (caughtUpTo !== position && !ended()) yield { kind: 'caughtUp', position }
      caughtUpTo = position
      await appended.past(rung, signal)
    }
  }

  return {
    append,
    readStream,
    readAll,
    subscribe,
    head: async () => log.at(-1)?.position ?? beforeAll,
    close: async () => {
      closed = true
      appended.ring()
    },
  }
}

const passes = (event: StoredEvent, { streamPrefix = '', types = [] }: EventFilter): boolean =>
  event.stream.startsWith(streamPrefix) && (types.length === 0 || types.includes(event.type))
