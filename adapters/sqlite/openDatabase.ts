import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import Driver from 'better-sqlite3'
import { InvalidInputError } from '../../domain/errors.ts'

export type SqlValue = string | number | null

/** One row, column by column. Read with `row.ts`, which checks what is stored. */
export type Row = readonly unknown[]

export type Statement = {
  /** Answers how many rows were changed. */
  run(...values: SqlValue[]): number
  rows(...values: SqlValue[]): readonly Row[]
}

/** As much of SQLite as the stores use, so that the driver can be swapped here. Every verb blocks. */
export type Database = {
  prepare(sql: string): Statement
  exec(sql: string): void
  /** Runs `work` on one state of the file. */
  read<T>(work: () => T): T
  /** Runs `work` in one transaction that takes the write lock first. Rolls back when it raises. */
  write<T>(work: () => T): T
  /** Inside of `write`: undoes what `work` alone has written when it raises. */
  part(work: () => void): void
  close(): void
}

export type DatabaseFile = {
  readonly path: string
  /** `FULL`: a commit survives power loss. `NORMAL`: the newest commits may be lost, never the file. */
  readonly synchronous: 'FULL' | 'NORMAL'
  /** Makes the tables where they are missing. */
  readonly schema: string
  /** Stored in the file as `user_version`. */
  readonly schemaVersion: number
}

/** What tests pretend. */
export type SqliteOverrides = { readonly sqliteVersion?: string; readonly pageCountMax?: number }

// The driver waits inside SQLite and blocks the event loop meanwhile: `patience.ts` does the long waiting.
const busyMs = 5
// A log file that once grew under a long reader is cut back to this when it starts over.
const walBytesMax = 64 * 1024 * 1024

/**
 * Opens or creates one database file in WAL mode. Raises the driver's own errors (see `trouble.ts`), and
 * `InvalidInputError` for a SQLite or a file that this program must not work with.
 */
export const openDatabase = (file: DatabaseFile, overrides: SqliteOverrides = {}): Database => {
  const driver = open(file.path, busyMs)
  try {
    refuseOldSqlite(overrides.sqliteVersion ?? String(driver.prepare('SELECT sqlite_version()').pluck().get()))
    const versionOf = (): number => Number(driver.pragma('user_version', { simple: true }))
    refuseNewerFile(file, versionOf())
    driver.pragma('journal_mode = WAL')
    driver.pragma(`synchronous = ${file.synchronous}`)
    driver.pragma(`journal_size_limit = ${walBytesMax}`)
    if (overrides.pageCountMax !== undefined) driver.pragma(`max_page_count = ${overrides.pageCountMax}`)
    const database = wrapped(driver)
    if (versionOf() === file.schemaVersion) return database
    database.write(() => {
      // Asked again under the lock: another process may have been faster, and newer.
      refuseNewerFile(file, versionOf())
      if (versionOf() === file.schemaVersion) return
      driver.exec(file.schema)
      driver.pragma(`user_version = ${file.schemaVersion}`)
    })
    return database
  } catch (error) {
    driver.close()
    throw error
  }
}

/** Opens or creates a file as it is, for its locks alone. */
export const openPlainDatabase = (path: string): Database => wrapped(open(path, 0))

/** Of the SQLite inside the driver. */
export const sqliteVersion = (): string => {
  const driver = new Driver(':memory:')
  try {
    return String(driver.prepare('SELECT sqlite_version()').pluck().get())
  } finally {
    driver.close()
  }
}

const open = (path: string, timeout: number): Driver.Database => {
  // The driver would raise a TypeError, as if that were a fault of this program.
  if (!existsSync(dirname(path))) throw new Driver.SqliteError(`${dirname(path)} is missing`, 'SQLITE_CANTOPEN')
  return new Driver(path, { timeout })
}

const wrapped = (driver: Driver.Database): Database => {
  const prepare = (sql: string): Statement => {
    const statement = driver.prepare<SqlValue[], Row>(sql)
    if (statement.reader) statement.raw()
    return {
      run: (...values) => statement.run(...values).changes,
      rows: (...values) => statement.all(...values),
    }
  }
  const [beginRead, beginWrite] = [prepare('BEGIN'), prepare('BEGIN IMMEDIATE')]
  const [commit, rollback] = [prepare('COMMIT'), prepare('ROLLBACK')]
  const within = <T>(begin: Statement, work: () => T): T => {
    begin.run()
    try {
      const result = work()
      commit.run()
      return result
    } catch (error) {
      // Some errors, a full disk among them, have already rolled back.
      if (driver.inTransaction) rollback.run()
      throw error
    }
  }
  const [save, undo, release] = [prepare('SAVEPOINT part'), prepare('ROLLBACK TO part'), prepare('RELEASE part')]
  const part = (work: () => void): void => {
    save.run()
    try {
      work()
    } catch (error) {
      // Where the whole transaction is already undone there is no savepoint either.
      if (driver.inTransaction) undo.run()
      throw error
    } finally {
      if (driver.inTransaction) release.run()
    }
  }
  return {
    prepare,
    read: (work) => within(beginRead, work),
    write: (work) => within(beginWrite, work),
    part,
    exec: (sql) => void driver.exec(sql),
    close: () => void driver.close(),
  }
}

// Several processes share one WAL database here. Older versions can corrupt exactly that (the WAL-reset bug).
const repaired: Readonly<Record<string, number>> = { '3.44': 6, '3.50': 7, '3.51': 3 }

const refuseOldSqlite = (version: string): void => {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  const patchMin = repaired[`${major}.${minor}`]
  const isRepaired = patchMin === undefined ? major > 3 || (major === 3 && minor > 51) : patch >= patchMin
  if (isRepaired) return
  throw new InvalidInputError(
    `SQLite ${version} can corrupt a log that several processes share; ` +
      'install better-sqlite3 with SQLite 3.51.3 or newer',
    { version },
  )
}

const refuseNewerFile = ({ path, schemaVersion }: DatabaseFile, version: number): void => {
  if (version <= schemaVersion) return
  throw new InvalidInputError(
    `${path} was written by a newer version of this program (format ${version}, known is ${schemaVersion}); ` +
      'install that version or use another folder',
    { version, known: schemaVersion },
  )
}
