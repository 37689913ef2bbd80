import { randomBytes } from 'node:crypto'
import { mkdir, open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, normalize } from 'node:path'
import { StoreUnavailable } from '../../domain/errors.ts'
import type { Engine } from '../engine.ts'
import { UsageError } from './usageError.ts'

/** Raises `UsageError` for an `--out` that can be no folder, before any work is paid for. */
export const refuseNoFolder = async (folder: string): Promise<void> => {
  const found = await stat(folder).catch(() => null)
  if (found === null || found.isDirectory()) return
  throw new UsageError('invalid_option', `--out ${folder} is not a folder: name one, or one that does not exist yet`, {
    option: '--out',
  })
}

/**
 * Writes the results of a succeeded job, file by file: each is whole under its name or not there. What was there
 * before is replaced. Answers the paths written. Raises `StoreUnavailable` when the folder cannot be written.
 */
export const fillOut = async (engine: Engine, jobId: string, folder: string): Promise<readonly string[]> => {
  const written: string[] = []
  for await (const file of engine.output(jobId)) {
    const path = join(folder, insideOf(file.path))
    try {
      await writeWhole(path, file.content)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
      throw new StoreUnavailable(`${path} cannot be written (${code}): the job keeps its results, so run again once it can`, {
        path,
        cause: code,
      })
    }
    written.push(path)
  }
  return written
}

/** A job's own names must not lead out of the folder. */
const insideOf = (path: string): string => {
  const plain = normalize(path)
  if (isAbsolute(plain) || plain === '..' || plain.startsWith('../')) {
    throw new UsageError('invalid_output', `the job names a result outside of the folder: ${JSON.stringify(path)}`, { path })
  }
  return plain
}

const writeWhole = async (path: string, content: Uint8Array): Promise<void> => {
  const folder = dirname(path)
  await mkdir(folder, { recursive: true })
  // Of its own: two runs may fill one folder at the same time.
  const temporary = join(folder, `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    const file = await open(temporary, 'wx')
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
  await syncFolder(folder)
}

/** Makes the new name durable too. */
const syncFolder = async (path: string): Promise<void> => {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
