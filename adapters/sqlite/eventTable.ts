import { RevisionConflict } from '../../domain/errors.ts'
import type { EventFilter, ExpectedRevision, SealedEvent, StoredEvent } from '../../domain/ports/eventStore.ts'
import { firstRevision } from '../../domain/appendRules.ts'
import type { Database, Row } from './openDatabase.ts'
import { positionOf } from '../../domain/numberedPosition.ts'
import { numberOf, textOf } from './row.ts'

export const eventSchemaVersion = 1

/** Public: people read this table with their own tools. */
export const eventSchema = `
  CREATE TABLE events (
    position       INTEGER PRIMARY KEY AUTOINCREMENT,
    stream         TEXT    NOT NULL,
    revision       INTEGER NOT NULL,
    id             TEXT    NOT NULL UNIQUE,
    type           TEXT    NOT NULL,
    schema_version INTEGER NOT NULL,
    recorded_at    TEXT    NOT NULL,
    data           TEXT    NOT NULL,
    meta           TEXT    NOT NULL,
    hash           TEXT    NOT NULL,
    UNIQUE (stream, revision)
  ) STRICT`

const columns = 'position, stream, revision, id, type, schema_version, recorded_at, data, meta, hash'

const eventOf = (row: Row): StoredEvent => ({
  position: positionOf(numberOf(row, 0)),
  stream: textOf(row, 1),
  revision: numberOf(row, 2),
  id: textOf(row, 3),
  type: textOf(row, 4),
  schemaVersion: numberOf(row, 5),
  recordedAt: textOf(row, 6),
  data: textOf(row, 7),
  meta: textOf(row, 8),
  hash: textOf(row, 9),
})

/** Appends inside a transaction of the caller's. Raises before anything is written. */
export const eventWriter = (database: Database) => {
  const last = database.prepare('SELECT revision FROM events WHERE stream = ? ORDER BY revision DESC LIMIT 1')
  const idsFrom = database.prepare(
    'SELECT id FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?',
  )
  const placeOf = database.prepare('SELECT stream, revision FROM events WHERE id = ?')
  const insert = database.prepare(
    `INSERT INTO events (stream, revision, id, type, schema_version, recorded_at, data, meta, hash)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )

  const isStored = (stream: string, events: readonly SealedEvent[], first: number): boolean => {
    const stored = idsFrom.rows(stream, first, events.length)
    return stored.length === events.length && stored.every((row, index) => textOf(row, 0) === events[index]?.id)
  }

  return (stream: string, events: readonly SealedEvent[], expectedRevision: ExpectedRevision): void => {
    const [lastRow] = last.rows(stream)
    const next = lastRow === undefined ? 0 : numberOf(lastRow, 0) + 1
    const first = firstRevision(expectedRevision)
    if (next !== first) {
      // An identical append is a repeat, whatever has been appended since.
      if (isStored(stream, events, first)) return
      throw new RevisionConflict(stream, expectedRevision, next === 0 ? 'no-stream' : next - 1)
    }
    for (const { id } of events) {
      const [place] = placeOf.rows(id)
      if (place !== undefined) {
        throw new Error(`event ${id} already stands in ${textOf(place, 0)} at ${numberOf(place, 1)}`)
      }
    }
    for (const event of events) {
      const { id, type, schemaVersion, recordedAt, data, meta, hash } = event
      insert.run(stream, event.revision, id, type, schemaVersion, recordedAt, data, meta, hash)
    }
  }
}

export type EventReader = ReturnType<typeof eventReader>

/** Reads by number of position. Each verb is one statement, so nothing holds a transaction open. */
export const eventReader = (database: Database) => {
  const head = database.prepare('SELECT coalesce(max(position), 0) FROM events')
  const forwards = database.prepare(
    `SELECT ${columns} FROM events WHERE stream = ? AND revision >= ? ORDER BY revision LIMIT ?`,
  )
  const backwards = database.prepare(
    `SELECT ${columns} FROM events WHERE stream = ? AND revision <= ? ORDER BY revision DESC LIMIT ?`,
  )
  const all = database.prepare(
    `SELECT ${columns} FROM events WHERE position > ? AND position <= ? ORDER BY position LIMIT ?`,
  )
  // The plus keeps the planner from walking the index of streams and sorting what it finds there.
  const filtered = database.prepare(
    `SELECT ${columns} FROM events WHERE position > ? AND position <= ?
       AND instr(+stream, ?) = 1 AND (? = '[]' OR type IN (SELECT value FROM json_each(?)))
     ORDER BY position LIMIT ?`,
  )
  const version = database.prepare('PRAGMA data_version')

  return {
    head: (): number => numberOf(head.rows()[0], 0),
    /** Changes when another connection has committed. */
    dataVersion: (): number => numberOf(version.rows()[0], 0),
    forwards: (stream: string, from: number, limit: number): readonly StoredEvent[] =>
      forwards.rows(stream, from, limit).map(eventOf),
    backwards: (stream: string, from: number, limit: number): readonly StoredEvent[] =>
      backwards.rows(stream, from, limit).map(eventOf),
    /** Events behind `after`, up to `until`. */
    between: (after: number, until: number, limit: number, filter: EventFilter | null): readonly StoredEvent[] => {
      if (filter === null) return all.rows(after, until, limit).map(eventOf)
      const types = JSON.stringify(filter.types ?? [])
      return filtered.rows(after, until, filter.streamPrefix ?? '', types, types, limit).map(eventOf)
    },
  }
}
