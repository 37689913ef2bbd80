import { access, constants, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { storeFolderOf } from '../store.ts'
import { type Check, type Checked, fail, ok, warn } from './check.ts'

const bytesFreeMin = 100 * 1_048_576

/** Whether the store's folder can be written, and has room. */
export const checkFolder: Check = async ({ config }) => {
  const folder = storeFolderOf(config.store)
  if (folder === null) return []
  const place = await nearestFolder(resolve(folder))
  return [await writable(folder, place), await roomIn(place)]
}

const writable = async (folder: string, place: string): Promise<Checked> => {
  try {
    await access(place, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return fail('store', `${place} cannot be written`, 'make it readable and writable, or name another with --store')
  }
  return place === resolve(folder)
    ? ok('store', `${place} is writable`)
    : ok('store', `${resolve(folder)} is not there yet: the first submit makes it`)
}

const roomIn = async (place: string): Promise<Checked> => {
  const { bavail, bsize } = await statfs(place)
  const free = bavail * bsize
  const text = `${Math.floor(free / 1_048_576)} MiB free`
  return free >= bytesFreeMin ? ok('space', text) : warn('space', text, 'free some space: a full disk stops every job')
}

/** The folder itself, or the first one above it that is there. */
const nearestFolder = async (path: string): Promise<string> => {
  const found = await stat(path).catch(() => null)
  return found !== null || dirname(path) === path ? path : nearestFolder(dirname(path))
}
