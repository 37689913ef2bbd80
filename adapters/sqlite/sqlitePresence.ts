import { mkdirSync } from 'node:fs'
import type { Clock } from '../../domain/ports/clock.ts'
import type { Presence } from '../../domain/ports/presence.ts'
import { fileIdentity } from './fileIdentity.ts'
import { isLocked } from './fileLock.ts'
import type { FileLock } from './fileLock.ts'
import { patiently } from './patience.ts'
import { lockWorkerFile, tidyWorkerFiles, workerFiles } from './workerFiles.ts'

/**
 * A lock on one small file a worker, which the operating system takes back when the process ends, however it
 * ends. A file without a lock means gone; where there is no file nothing is known.
 */
export const sqlitePresence = (folder: string, clock: Clock): Presence & { close(): void } => {
  // Held here, since a lock whose database nobody refers to would be collected, and with it let go.
  const held = new Map<string, FileLock>()

  return {
    announce: async (workerId) => {
      const files = workerFiles(folder, workerId)
      const lock = await patiently(clock, files.lock, () => {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        return lockWorkerFile(files)
      })
      held.set(files.lock, lock)
      tidyWorkerFiles(folder, (path) => held.has(path), clock)
      return async () => {
        if (held.get(files.lock) !== lock) return
        held.delete(files.lock)
        lock.release()
      }
    },

    isGone: async (workerId) => {
      const { lock, gone } = workerFiles(folder, workerId)
      if (held.has(lock)) return false
      if (fileIdentity(lock) === null) return fileIdentity(gone) !== null
      return !(await patiently(clock, lock, () => isLocked(lock)))
    },

    close: () => {
      for (const lock of held.values()) lock.release()
      held.clear()
    },
  }
}
