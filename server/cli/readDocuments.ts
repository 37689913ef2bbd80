import { lstat, readdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { InvalidInputError } from '../../domain/errors.ts'
import type { SubmittedFile } from '../defineJob.ts'
import { readBytes, unreadable } from './readFiles.ts'

/** They are held in memory together while they are checked and stored. */
const filesMax = 10_500
const fileBytesMax = 32 * 1_048_576
const filesBytesMax = 1_024 * 1_048_576
const foldersDeepMax = 64

type Found = { readonly name: string; readonly path: string }

/**
 * The files named and all files of the folders named, by the names they have from there: the same folder has the same
 * names wherever it lies. Names of several folders begin with that of the folder. Hidden files are passed over.
 * Raises `InvalidInputError` naming the path for a symbolic link, for what cannot be read and for a limit.
 */
export const readDocuments = async (paths: readonly string[]): Promise<readonly SubmittedFile[]> => {
  const found: Found[] = []
  for (const path of paths) {
    const before = found.length
    const name = basename(resolve(path))
    if (await isFolder(path)) {
      await findFiles(path, paths.length === 1 ? '' : `${name}/`, found)
      if (found.length === before) throw new InvalidInputError(`${path}: the folder holds no file`, { path })
    } else found.push({ name, path })
  }
  return readAll(found)
}

const readAll = async (found: readonly Found[]): Promise<readonly SubmittedFile[]> => {
  const files: SubmittedFile[] = []
  let bytes = 0
  for (const { name, path } of found) {
    const content = await readBytes(path, fileBytesMax)
    bytes += content.byteLength
    if (bytes > filesBytesMax) {
      throw new InvalidInputError(`${path}: with it the files are larger than ${filesBytesMax} bytes together: submit them in parts`, {
        path,
        bytesMax: filesBytesMax,
      })
    }
    files.push({ name, content })
  }
  return files
}

/** A link may lead out of what the user meant to give. */
const isFolder = async (path: string): Promise<boolean> => {
  const stat = await lstat(path).catch((error: unknown) => {
    throw unreadable(path, error)
  })
  if (stat.isSymbolicLink()) throw new InvalidInputError(`${path}: it is a symbolic link: name what it leads to`, { path })
  return stat.isDirectory()
}

const findFiles = async (folder: string, prefix: string, found: Found[], depth = 0): Promise<void> => {
  if (depth > foldersDeepMax) {
    throw new InvalidInputError(`${folder}: folders are nested deeper than ${foldersDeepMax}`, { path: folder })
  }
  const entries = await readdir(folder).catch((error: unknown) => {
    throw unreadable(folder, error)
  })
  for (const entry of entries.toSorted()) {
    if (entry.startsWith('.')) continue
    const path = join(folder, entry)
    if (await isFolder(path)) {
      await findFiles(path, `${prefix}${entry}/`, found, depth + 1)
      continue
    }
    if (found.length === filesMax) {
      throw new InvalidInputError(`${path}: there are more than ${filesMax} files: submit them in parts`, { path, filesMax })
    }
    found.push({ name: `${prefix}${entry}`, path })
  }
}
