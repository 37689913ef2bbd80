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
    makeFolders(resolve(path))
    return realpathSync(path)
  })
  refuseNetworkFileSystem(folder, fileSystemOf)
  orUnavailable(folder, () => accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK))
  return folder
}

/**
 * One folder after the other: Node's own `recursive` never ends where a file system answers ENOENT for a folder
 * whose parent is there (/proc does), and tells the wrong reason where nothing can be written.
 */
const makeFolders = (path: string): void => {
  const parent = dirname(path)
  if (parent !== path && statSync(parent, { throwIfNoEntry: false }) === undefined) makeFolders(parent)
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have been faster; read-only file systems tell so before they tell that it is there.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
    throw error
  }
  syncFolder(parent)
}

/** Makes the name of a new folder durable: a log is no safer than the folder it is in. */
const syncFolder = (folder: string): void => {
  const opened = openSync(folder, 'r')
  try {
    fsyncSync(opened)
  } finally {
    closeSync(opened)
  }
}

const refuseFile = (path: string): void => {
  const found = orUnavailable(path, () => statSync(path, { throwIfNoEntry: false }))
  if (found === undefined || found.isDirectory()) return
  throw new InvalidInputError(`${path} is a file: name a folder for the store, or none that exists yet`, { path })
}

const remedies: Readonly<Record<string, string>> = {
  EROFS: 'make the folder writable (its file system is read-only), or name one elsewhere',
  ENOSPC: 'the disk is full: free some space, or name a folder elsewhere',
  ENOENT: 'no folder can be made there: name one elsewhere',
  EEXIST: 'a link to nothing has that name: remove it, or name another folder',
}

const orUnavailable = <T>(path: string, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
    if (code === 'ENOTDIR') {
      throw new InvalidInputError(`${path} lies inside of a file: name another folder for the store`, { path })
    }
    const advice = remedies[code] ?? 'make the folder readable and writable, or name another'
    throw new StoreUnavailable(`${path} cannot be used (${code}): ${advice}`, { cause: code })
  }
}
