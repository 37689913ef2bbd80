import { StoreUnavailable } from '../../domain/errors.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import { beforeAll } from '../../domain/ports/eventStore.ts'
import type { EventFilter, EventStore, LogPage, Position } from '../../domain/ports/eventStore.ts'
import { checkAppend } from '../../domain/appendRules.ts'
import { eventReader, eventSchema, eventSchemaVersion, eventWriter } from './eventTable.ts'
import { fileIdentity } from './fileIdentity.ts'
import { followLog } from './followLog.ts'
import { groupCommit } from './groupCommit.ts'
import type { Append, Outcome } from './groupCommit.ts'
import { logNews } from './logNews.ts'
import { logTail } from './logTail.ts'
import { openDatabase } from './openDatabase.ts'
import type { SqliteOverrides } from './openDatabase.ts'
import { patiently } from './patience.ts'
import { numberOf, positionOf } from '../../domain/numberedPosition.ts'
import { troubleOf } from './trouble.ts'

const pageSize = 1000
const followPageSize = 500
// How much of the log a filtered page looks through before it lets others run.
const scanMax = 10_000

/** The log in one SQLite file. Any number of processes may share it. */
export const sqliteEventStore = async (
  path: string,
  clock: Clock,
  overrides: SqliteOverrides = {},
): Promise<EventStore> => {
  const file = { path, synchronous: 'FULL', schema: eventSchema, schemaVersion: eventSchemaVersion } as const
  const open = () => patiently(clock, path, () => openDatabase(file, overrides))
  const writeConnection = await open()
  // Reads have a connection of their own, so that they see only what is committed and never wait for a write.
  const readConnection = await open()
  const appendInto = eventWriter(writeConnection)
  const reader = eventReader(readConnection)
  const news = logNews(clock, reader.dataVersion)
  const tail = logTail(reader)
  const subscriptions = new Set<AbortController>()
  let closed = false
  let refreshedAt = -1

  const identity = fileIdentity(path)
  // What is written to a file that was moved away or deleted is lost, though SQLite would acknowledge it.
  const refuseMovedFile = (): void => {
    if (fileIdentity(path) === identity) return
    throw new StoreUnavailable(`${path} was moved or deleted while in use: put it back, or restart on another folder`)
  }

  const refuseClosed = (): void => {
    if (closed) throw new StoreUnavailable(`${path}: the store is closed`)
  }

  const attempt = async <T>(work: () => T): Promise<T> => {
    refuseClosed()
    return patiently(clock, path, work)
  }

  const commitGroup = async (group: readonly Append[]): Promise<readonly Outcome[]> => {
    refuseMovedFile()
    const outcomes = await patiently(clock, path, () =>
      writeConnection.write(() =>
        group.map(({ stream, events, expectedRevision }): Outcome => {
          try {
            writeConnection.part(() => appendInto(stream, events, expectedRevision))
            return null
          } catch (error) {
            if (troubleOf(error) !== null) throw error
            return error
          }
        }),
      ),
    )
    news.ring()
    return outcomes
  }
  const group = groupCommit(commitGroup)

  const readAll: EventStore['readAll'] = ({ after = beforeAll, limit = pageSize, filter } = {}) =>
    attempt(() => {
      const start = numberOf(after)
      // Read first: what is committed later belongs to the next page.
      const head = reader.head()
      const isFiltered = (filter?.streamPrefix ?? '') !== '' || (filter?.types ?? []).length > 0
      const until = isFiltered ? Math.min(start + scanMax, head) : head
      const events = reader.between(start, until, limit, isFiltered && filter !== undefined ? filter : null)
      const lastRead = events.length === limit ? events.at(-1)?.position : undefined
      const scannedTo = lastRead ?? positionOf(Math.max(until, start))
      return { events, scannedTo, atEnd: numberOf(scannedTo) >= head }
    })

  const refreshTail = (): void => {
    const rung = news.rung()
    if (rung === refreshedAt) return
    tail.refresh()
    refreshedAt = rung
  }

  const readNewest = async (after: Position, filter: EventFilter): Promise<LogPage> => {
    if (news.rung() !== refreshedAt) await attempt(refreshTail)
    return tail.page(after, filter) ?? readAll({ after, filter, limit: followPageSize })
  }

  const source = {
    read: (after: Position, filter: EventFilter) => readAll({ after, filter, limit: followPageSize }),
    readNewest,
    news,
    clock,
  }

  return {
    append: async (stream, events, expectedRevision) => {
      refuseClosed()
      checkAppend(stream, events, expectedRevision)
      if (events.length > 0) await group.add({ stream, events, expectedRevision })
    },
    readStream: (stream, { from, direction = 'forwards', limit = pageSize } = {}) =>
      attempt(() =>
        direction === 'forwards'
          ? reader.forwards(stream, from ?? 0, limit)
          : reader.backwards(stream, from ?? Number.MAX_SAFE_INTEGER, limit),
      ),
    readAll,
    subscribe: async function* ({ signal, ...options }) {
      const ending = new AbortController()
      const end = (): void => ending.abort()
      if (closed || signal.aborted) return
      subscriptions.add(ending)
      signal.addEventListener('abort', end)
      try {
        yield* followLog(source, { ...options, signal: ending.signal })
      } finally {
        subscriptions.delete(ending)
        signal.removeEventListener('abort', end)
      }
    },
    head: () => attempt(() => positionOf(reader.head())),
    close: async () => {
      if (closed) return
      closed = true
      for (const subscription of subscriptions) subscription.abort()
      await group.settled()
      readConnection.close()
      writeConnection.close()
    },
  }
}
