import { openPlainDatabase } from './openDatabase.ts'
import { troubleOf } from './trouble.ts'

export type FileLock = { release(): void }

/**
 * Locks a small file until released or until this process ends, however it ends. Null when somebody holds it.
 * The file itself is left behind. Nobody may open and close it in another way meanwhile: by POSIX, that would
 * drop the lock of the whole process.
 */
export const tryLock = (path: string): FileLock | null => {
  const database = openPlainDatabase(path)
  try {
    database.exec('BEGIN EXCLUSIVE')
    return { release: () => database.close() }
  } catch (error) {
    database.close()
    if (troubleOf(error)?.passing === true) return null
    throw error
  }
}

/** Whether somebody holds the lock. Looks by a shared lock, so that those who look do not meet one another. */
export const isLocked = (path: string): boolean => {
  const database = openPlainDatabase(path)
  try {
    database.prepare('SELECT count(*) FROM sqlite_schema').rows()
    return false
  } catch (error) {
    if (troubleOf(error)?.passing === true) return true
    throw error
  } finally {
    database.close()
  }
}
