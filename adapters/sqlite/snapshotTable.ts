import type { Snapshot } from '../../domain/ports/viewStore.ts'
import type { Database } from './openDatabase.ts'
import { numberOf, textOf } from './row.ts'

/** Reads and writes of snapshots. */
export const snapshotTable = (database: Database) => {
  const load = database.prepare(
    'SELECT revision, hash, fold_version, state, checksum FROM snapshots WHERE stream = ?',
  )
  const save = database.prepare(
    `INSERT INTO snapshots (stream, revision, hash, fold_version, state, checksum) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (stream) DO UPDATE SET revision = excluded.revision, hash = excluded.hash,
       fold_version = excluded.fold_version, state = excluded.state, checksum = excluded.checksum
     WHERE NOT (snapshots.fold_version = excluded.fold_version AND snapshots.revision > excluded.revision)`,
  )
  return {
    load: (stream: string): Snapshot | null => {
      const [row] = load.rows(stream)
      if (row === undefined) return null
      return {
        revision: numberOf(row, 0),
        hash: textOf(row, 1),
        foldVersion: numberOf(row, 2),
        state: textOf(row, 3),
        checksum: textOf(row, 4),
      }
    },
    save: (stream: string, { revision, hash, foldVersion, state, checksum }: Snapshot): void => {
      save.run(stream, revision, hash, foldVersion, state, checksum)
    },
  }
}
