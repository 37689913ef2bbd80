import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { InvalidInputError, StoreUnavailable } from '../../domain/errors.ts'
import { hostFileSystemOf, refuseNetworkFileSystem } from './hostFileSystem.ts'
import type { FileSystemOf } from './hostFileSystem.ts'

/**
 * Makes the folder where it is missing, for its owner alone, and answers its real path: two names of one folder
 * are one store. Raises `InvalidInputError` for a place that cannot be a store and `StoreUnavailable` for one
 * that cannot be written now, each saying what to do.
 */
export const storeFolder = (path: string, fileSystemOf: FileSystemOf = hostFileSystemOf): string => {
  refuseFile(path)
  const folder = orUnavailable(path, () => {
    const topmost = mkdirSync(path, { recursive: true, mode: 0o700 })
    if (topmost !== undefined) syncFolders(path, dirname(topmost))
    return realpathSync(path)
  })
  refuseNetworkFileSystem(folder, fileSystemOf)
  orUnavailable(folder, () => accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK))
  return folder
}

/** Makes the names of new folders durable, from `path` up to `top`: a log is no safer than the folder it is in. */
const syncFolders = (path: string, top: string): void => {
  for (let folder = dirname(resolve(path)); folder.startsWith(resolve(top)); folder = dirname(folder)) {
    const opened = openSync(folder, 'r')
    try {
      fsyncSync(opened)
    } finally {
      closeSync(opened)
    }
    if (folder === dirname(folder)) return
  }
}

const refuseFile = (path: string): void => {
  const found = orUnavailable(path, () => statSync(path, { throwIfNoEntry: false }))
  if (found === undefined || found.isDirectory()) return
  throw new InvalidInputError(`${path} is a file: name a folder for the store, or none that exists yet`, { path })
}

const orUnavailable = <T>(path: string, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    if (code === 'ENOTDIR') {
      throw new InvalidInputError(`${path} lies inside of a file: name another folder for the store`, { path })
    }
    throw new StoreUnavailable(`${path} cannot be used (${code}): make the folder readable and writable`, {
      cause: code,
    })
  }
}
