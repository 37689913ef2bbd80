import { createHash } from 'node:crypto'
import { readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../domain/ports/clock.ts'
import { fileIdentity } from './fileIdentity.ts'
import { tryLock } from './fileLock.ts'
import type { FileLock } from './fileLock.ts'
import { busy } from './trouble.ts'

/** A worker's two possible files: the one its process locks, and the one that tells of a process long gone. */
export type WorkerFiles = { readonly lock: string; readonly gone: string }

// Long enough that everybody who waits for a worker's leases has seen that it is gone.
const goneMsMin = 24 * 60 * 60 * 1000

/** Named for people, and by hash for certain: a worker's id may hold anything. */
export const workerFiles = (folder: string, workerId: string): WorkerFiles => {
  const readable = workerId.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)
  const certain = createHash('sha256').update(workerId).digest('hex').slice(0, 16)
  const name = join(folder, `${readable}-${certain}`)
  return { lock: `${name}.lock`, gone: `${name}.gone` }
}

/** Raises as busy when somebody holds it, or when the file was taken away before it could be locked. */
export const lockWorkerFile = ({ lock: path, gone }: WorkerFiles): FileLock => {
  const before = fileIdentity(path)
  const lock = tryLock(path)
  const after = fileIdentity(path)
  if (lock === null || after === null || (before !== null && before !== after)) {
    lock?.release()
    throw busy(path)
  }
  rmSync(gone, { force: true })
  return lock
}

/** Marks the workers of `folder` that are gone, and forgets those that were marked a day ago. */
export const tidyWorkerFiles = (folder: string, isMine: (path: string) => boolean, clock: Clock): void => {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    if (name.endsWith('.lock') && !isMine(path)) markIfGone(path, clock)
    if (name.endsWith('.gone') && isOlderThan(path, clock.now() - goneMsMin)) rmSync(path, { force: true })
  }
}

const markIfGone = (path: string, clock: Clock): void => {
  const lock = tryLock(path)
  if (lock === null) return
  const gone = path.replace(/\.lock$/, '.gone')
  try {
    // Under the lock: a worker that comes back at this moment notices that its file is no longer there.
    renameSync(path, gone)
    utimesSync(gone, clock.now() / 1000, clock.now() / 1000)
  } finally {
    lock.release()
  }
}

const isOlderThan = (path: string, instant: number): boolean => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found !== undefined && found.mtimeMs < instant
}
