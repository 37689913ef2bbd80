import type { Clock } from '../../domain/ports/clock.ts'
import type { SnapshotStore, ViewCheckpoint, ViewStore } from '../../domain/ports/viewStore.ts'
import { disposableDatabase } from './disposableDatabase.ts'
import type { Database, SqliteOverrides } from './openDatabase.ts'
import { patiently } from './patience.ts'
import { snapshotTable } from './snapshotTable.ts'
import { viewSchema, viewSchemaVersion } from './viewSchema.ts'
import { viewSweeper } from './viewSweeper.ts'
import { viewTables } from './viewTables.ts'

const listPageSize = 100
const scanPageSize = 1000
// How much of a dropped view is removed before others may run.
const sweepSlice = 2000

const tablesOf = (database: Database) => ({
  views: viewTables(database),
  sweep: viewSweeper(database),
  snapshots: snapshotTable(database),
})

/** Views and snapshots in one SQLite file, which may be deleted at any time: they are then rebuilt from the log. */
export const sqliteViewStore = async (
  path: string,
  clock: Clock,
  overrides: SqliteOverrides = {},
): Promise<ViewStore & SnapshotStore> => {
  const file = { path, synchronous: 'NORMAL', schema: viewSchema, schemaVersion: viewSchemaVersion } as const
  const disposable = disposableDatabase(file, tablesOf, overrides)
  type Work<T> = Parameters<typeof disposable.use<T>>[0]
  const read = <T>(work: Work<T>): Promise<T> => patiently(clock, path, () => disposable.use(work))
  const write = <T>(work: Work<T>): Promise<T> =>
    read((tables, database) => database.write(() => work(tables, database)))

  const sweep = async (): Promise<void> => {
    while (await write(({ sweep: sweepSome }) => sweepSome(sweepSlice))) await clock.sleep(0)
  }
  // What a process that was killed while it dropped a view has left.
  await sweep()

  return {
    checkpoint: (projection, version) => read(({ views }) => views.find(projection, version)?.checkpoint ?? null),

    load: (projection, version, keys) => read(({ views }) => views.load(projection, version, keys)),

    commit: (projection, version, { from, to }, changes) =>
      write(({ views }) => {
        const view = views.find(projection, version)
        if (!isSame(view?.checkpoint ?? null, from)) return false
        views.change(view?.view ?? views.create(projection, version, to), to, changes)
        return true
      }),

    query: (projection, version, { term, after, limit = listPageSize }) =>
      read(({ views }) => {
        const view = views.find(projection, version)
        return view === null ? [] : views.query(view.view, term, after, limit)
      }),

    scan: (projection, version, { after, limit = scanPageSize } = {}) =>
      read(({ views }) => {
        const view = views.find(projection, version)
        return view === null ? [] : views.scan(view.view, after, limit)
      }),

    drop: async (projection, version) => {
      await write(({ views }) => views.forget(projection, version))
      await sweep()
    },

    list: () => read(({ views }) => views.list()),
    loadSnapshot: (stream) => read(({ snapshots }) => snapshots.load(stream)),
    saveSnapshot: (stream, snapshot) => write(({ snapshots }) => snapshots.save(stream, snapshot)),
    close: async () => disposable.close(),
  }
}

const isSame = (a: ViewCheckpoint | null, b: ViewCheckpoint | null): boolean =>
  a === null || b === null ? a === b : a.position === b.position && a.eventId === b.eventId
