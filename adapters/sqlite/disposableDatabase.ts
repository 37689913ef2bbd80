import { renameSync, rmSync } from 'node:fs'
import { fileIdentity } from './fileIdentity.ts'
import { tryLock } from './fileLock.ts'
import { openDatabase } from './openDatabase.ts'
import type { Database, DatabaseFile, SqliteOverrides } from './openDatabase.ts'
import { textOf } from './row.ts'
import { again, busy, damage, isDamage, troubleOf } from './trouble.ts'

/** A database whose file may be deleted or damaged at any time: it then goes on with an empty one. */
export type DisposableDatabase<Tables> = {
  /**
   * Runs `work` on the file that is in place now. Blocks, and raises the driver's errors. One that came from a file
   * that was taken away or damaged is marked to be tried again, and `patiently` does.
   */
  use<T>(work: (tables: Tables, database: Database) => T): T
  close(): void
}

type Opened<Tables> = { readonly database: Database; readonly tables: Tables; readonly identity: string | null }

export const disposableDatabase = <Tables>(
  file: DatabaseFile,
  tablesOf: (database: Database) => Tables,
  overrides: SqliteOverrides = {},
): DisposableDatabase<Tables> => {
  let opened: Opened<Tables> | null = null

  const close = (): void => {
    // Closing leaves another file that stands at the path alone: SQLite looks whether its own was moved.
    opened?.database.close()
    opened = null
  }

  // Several processes may find the file missing or damaged at once; one at a time may put another in its place.
  const alone = <T>(work: () => T): T => {
    const lock = tryLock(`${file.path}.lock`)
    if (lock === null) throw busy(file.path)
    try {
      return work()
    } finally {
      lock.release()
    }
  }

  const open = (): Opened<Tables> =>
    alone(() => {
      if (fileIdentity(file.path) === null) removeCompanions(file.path)
      const database = openDatabase(file, overrides)
      try {
        refuseForeignFile(database, file.path)
        return { database, tables: tablesOf(database), identity: fileIdentity(file.path) }
      } catch (error) {
        database.close()
        throw error
      }
    })

  const setAside = (damaged: string): void =>
    alone(() => {
      if (fileIdentity(file.path) !== damaged) return
      renameSync(file.path, `${file.path}.corrupt`)
      removeCompanions(file.path)
    })

  const current = (): Opened<Tables> => {
    if (opened !== null && fileIdentity(file.path) !== opened.identity) close()
    opened ??= open()
    return opened
  }

  const use = <T>(work: (tables: Tables, database: Database) => T): T => {
    try {
      const { tables, database } = current()
      return work(tables, database)
    } catch (error) {
      const trouble = troubleOf(error)
      if (trouble === null) throw error
      const place = fileIdentity(file.path)
      if (opened !== null && opened.identity === place && !isDamage(trouble)) throw error
      const damaged = opened === null ? place : opened.identity
      close()
      if (isDamage(trouble) && damaged !== null) setAside(damaged)
      // What was wrong is out of the way: the next attempt finds another file, or makes one.
      throw again(error)
    }
  }

  return { use, close }
}

/**
 * A file that somebody put here may stand beside the write-ahead log of the one before, and SQLite would mix the
 * two. So each file remembers its own inode, and one that remembers another counts as damaged.
 */
const refuseForeignFile = (database: Database, path: string): void => {
  const inode = fileIdentity(path)?.split(':')[1] ?? ''
  database.exec('CREATE TABLE IF NOT EXISTS born (inode TEXT NOT NULL) STRICT')
  const [row] = database.prepare('SELECT inode FROM born').rows()
  if (row === undefined) database.prepare('INSERT INTO born (inode) VALUES (?)').run(inode)
  else if (textOf(row, 0) !== inode) throw damage(`${path} is another file than it was`)
}

// What an earlier file of that name left: read together with a new file, they would be taken for its own.
const removeCompanions = (path: string): void => {
  for (const suffix of ['-wal', '-shm', '-journal']) rmSync(`${path}${suffix}`, { force: true })
}
