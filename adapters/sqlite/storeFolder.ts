import { accessSync, constants, mkdirSync, realpathSync, statSync } from 'node:fs'
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
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return realpathSync(path)
  })
  refuseNetworkFileSystem(folder, fileSystemOf)
  orUnavailable(folder, () => accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK))
  return folder
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
