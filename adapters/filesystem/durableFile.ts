import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { errorCode } from './fileTrouble.ts'

/** Makes the entries of a folder durable: a file's own fsync does not cover its name. */
export const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } catch (error) {
    // Some file systems have no such call for folders; their entries are as durable as they get.
    if (!['EINVAL', 'ENOTSUP'].includes(errorCode(error) ?? '')) throw error
  } finally {
    await folder.close()
  }
}

/**
 * Makes `folder` and those between it and `root`, durably. `root` itself has to exist. `durable` remembers what
 * this process has made sure of; a folder that another process has just made may not be durable yet.
 */
export const makeFolders = async (root: string, folder: string, durable: Set<string>): Promise<void> => {
  let path = root
  for (const name of relative(root, folder).split(sep)) {
    const parent = path
    path = join(path, name)
    const isNew = await makeFolder(path)
    if (!isNew && durable.has(path)) continue
    await syncFolder(parent)
    durable.add(path)
  }
}

const makeFolder = async (path: string): Promise<boolean> => {
  try {
    await mkdir(path, { mode: 0o700 })
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

/** Writes the file whole or not at all, durably. `incoming` is a folder on the same file system. */
export const writeDurably = async (path: string, content: Uint8Array, incoming: string): Promise<void> => {
  const temporary = join(incoming, randomUUID())
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncFolder(dirname(path))
}
