import { constants, type Stats } from 'node:fs'
import { open, stat, type FileHandle } from 'node:fs/promises'
import { InvalidInputError } from '../../domain/errors.ts'
import type { SubmittedFile } from '../defineJob.ts'

/** A submitted file may be this large: it is held in memory while it is checked and stored. */
const fileBytesMax = 256 * 1_048_576

const sentences: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'a part of the path is not a folder',
  EACCES: 'it may not be read: check its permissions',
  EPERM: 'it may not be read: check its permissions',
  EISDIR: 'it is a folder: name the files in it',
  ELOOP: 'its links lead in a circle',
  ENAMETOOLONG: 'the name is too long',
}

/** The bytes of each file, in the order given. Raises `InvalidInputError` naming the path that cannot be read. */
export const readSubmittedFiles = async (paths: readonly string[]): Promise<readonly SubmittedFile[]> => {
  const files: SubmittedFile[] = []
  for (const path of paths) files.push({ name: path, content: await readBytes(path, fileBytesMax) })
  return files
}

/** The UTF-8 text of a small file. */
export const readText = async (path: string, bytesMax: number): Promise<string> => {
  const bytes = await readBytes(path, bytesMax)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new InvalidInputError(`${path}: it is not UTF-8 text`, { path })
  }
}

/** Raises `InvalidInputError` naming the path that cannot be read or is larger. */
export const readBytes = async (path: string, bytesMax: number): Promise<Uint8Array> => {
  try {
    const file = await opened(path)
    try {
      const found = await file.stat()
      refuseUnreadable(found, path, bytesMax)
      if (found.isFIFO()) return await bytesOfPipe(file, path, bytesMax)
      const bytes = await file.readFile()
      // It may have grown meanwhile.
      if (bytes.byteLength > bytesMax) throw tooLarge(path, bytesMax)
      return bytes
    } finally {
      await file.close()
    }
  } catch (error) {
    throw error instanceof InvalidInputError ? error : unreadable(path, error)
  }
}

/** What the operating system said about a path, as a sentence. */
export const unreadable = (path: string, error: unknown): InvalidInputError => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  return new InvalidInputError(`${path}: ${sentences[code] ?? `it cannot be read (${code})`}`, { path, cause: code })
}

/** Opening a named pipe waits for whoever writes to it, and nobody may ever come. */
const pipePatienceMs = 5_000

const opened = async (path: string): Promise<FileHandle> => {
  if (!(await stat(path)).isFIFO()) return open(path, 'r')
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    void letGo(path)
  }, pipePatienceMs)
  try {
    const file = await open(path, 'r')
    if (!isLate) return file
    await file.close()
  } finally {
    clearTimeout(timer)
  }
  const seconds = pipePatienceMs / 1_000
  throw new InvalidInputError(`${path}: it is a pipe, and nobody has written to it for ${seconds} s: name a file`, { path })
}

// An open that waits cannot be taken back; it ends when the pipe has a writer, which this is for a moment.
const letGo = async (path: string): Promise<void> => {
  const file = await open(path, constants.O_WRONLY | constants.O_NONBLOCK).catch(() => null)
  await file?.close()
}

// A pipe is welcome (`<(jq …)`); a device may never end.
const refuseUnreadable = (found: Stats, path: string, bytesMax: number): void => {
  if (found.isDirectory()) throw new InvalidInputError(`${path}: ${sentences['EISDIR'] ?? ''}`, { path })
  if (!found.isFile() && !found.isFIFO()) throw new InvalidInputError(`${path}: it is not a file`, { path })
  if (found.size > bytesMax) throw tooLarge(path, bytesMax)
}

const tooLarge = (path: string, bytesMax: number): InvalidInputError =>
  new InvalidInputError(`${path}: it is larger than ${bytesMax} bytes, the most a file may have`, { path, bytesMax })

// Of a pipe nobody knows the size beforehand.
const bytesOfPipe = async (file: FileHandle, path: string, bytesMax: number): Promise<Uint8Array> => {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of file.createReadStream({ autoClose: false, highWaterMark: 1_048_576 })) {
    if (!Buffer.isBuffer(part)) continue
    bytes += part.byteLength
    if (bytes > bytesMax) throw tooLarge(path, bytesMax)
    parts.push(part)
  }
  return Buffer.concat(parts)
}
