import Driver from 'better-sqlite3'
import { existsSync } from 'node:fs'
import type { Running } from './processes.ts'
import { until } from './until.ts'

/**
 * Freezes a process with SIGSTOP while it holds none of these SQLite files. Frozen inside of a write it would keep
 * the lock of the whole machine's store: nobody could write before it thaws, and there would be nothing to take over.
 * Answers how often it had to be let go again.
 */
export const freezeBetweenWrites = async (running: Running, files: readonly string[]): Promise<number> => {
  let tries = 0
  await until(
    'the process to stand between two writes',
    () => {
      running.signal('SIGSTOP')
      if (files.every(isFree)) return true
      running.signal('SIGCONT')
      tries += 1
      return false
    },
    { everyMs: 1 },
  )
  return tries
}

const isFree = (file: string): boolean => {
  if (!existsSync(file)) return true
  const database = new Driver(file, { timeout: 0 })
  try {
    database.exec('BEGIN IMMEDIATE')
    database.exec('ROLLBACK')
    return true
  } catch {
    return false
  } finally {
    database.close()
  }
}
