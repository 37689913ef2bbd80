import type { Clock } from '../../domain/ports/clock.ts'
import type { SnapshotStore, ViewCheckpoint, ViewStore } from '../../domain/ports/viewStore.ts'
import { disposableDatabase } from './disposableDatabase.ts'
import type { Database, SqliteOverrides } from './openDatabase.ts'
import { patiently } from './patience.ts'
import { snapshotTable } from './snapshotTable.ts'
import { viewCatalog } from './viewCatalog.ts'
import { viewSchema, viewSchemaVersion } from './viewSchema.ts'

const listPageSize = 100
const scanPageSize = 1000

const tablesOf = (database: Database) => ({ views: viewCatalog(database), snapshots: snapshotTable(database) })
type Tables = ReturnType<typeof tablesOf>

/** Views and snapshots in one SQLite file, which may be deleted at any time: they are then rebuilt from the log. */
export const sqliteViewStore = async (
  path: string,
  clock: Clock,
  overrides: SqliteOverrides = {},
): Promise<ViewStore & SnapshotStore> => {
  const file = { path, synchronous: 'NORMAL', schema: viewSchema, schemaVersion: viewSchemaVersion } as const
  const disposable = disposableDatabase(file, tablesOf, overrides)
  const read = <T>(work: (tables: Tables) => T): Promise<T> =>
    patiently(clock, path, () => disposable.use((tables, database) => database.read(() => work(tables))))
  const write = <T>(work: (tables: Tables) => T): Promise<T> =>
    patiently(clock, path, () => disposable.use((tables, database) => database.write(() => work(tables))))
  // Opened now, so that a file that cannot be used is refused at the start.
  await read(() => null)

  return {
    checkpoint: (projection, version) => read(({ views }) => views.find(projection, version)?.checkpoint ?? null),

    load: (projection, version, keys) =>
      read(({ views }) => {
        const view = views.find(projection, version)
        return [...new Set(keys)].flatMap((key) => view?.table.document(key) ?? [])
      }),

    commit: (projection, version, { from, to }, changes) =>
      write(({ views }) => {
        const stored = views.find(projection, version)
        if (!isSame(stored?.checkpoint ?? null, from)) return false
        const view = stored ?? views.create(projection, version, to)
        const grownBy = changes.reduce((sum, change) => sum + view.table.apply(change), 0)
        views.move(view, to, grownBy)
        return true
      }),

    query: (projection, version, { term, after, limit = listPageSize }) =>
      read(({ views }) => views.find(projection, version)?.table.list(term, after, limit) ?? []),

    scan: (projection, version, { after, limit = scanPageSize } = {}) =>
      read(({ views }) => views.find(projection, version)?.table.scan(after, limit) ?? []),

    drop: (projection, version) => write(({ views }) => views.drop(projection, version)),
    list: () => read(({ views }) => views.list()),
    loadSnapshot: (stream) => read(({ snapshots }) => snapshots.load(stream)),
    saveSnapshot: (stream, snapshot) => write(({ snapshots }) => snapshots.save(stream, snapshot)),
    close: async () => disposable.close(),
  }
}

const isSame = (a: ViewCheckpoint | null, b: ViewCheckpoint | null): boolean =>
  a === null || b === null ? a === b : a.position === b.position && a.eventId === b.eventId
