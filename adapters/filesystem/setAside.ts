import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from './durableFile.ts'
import { errorCode, isMissing } from './fileTrouble.ts'

/**
 * Moves a damaged file to the first free of `<path>.corrupt-<n>`, so that nothing set aside earlier is lost.
 * Moves it back when `isGood` finds that somebody has put the right bytes there meanwhile.
 */
export const setAside = async (path: string, isGood: (path: string) => Promise<boolean>): Promise<void> => {
  const aside = await freeName(path)
  try {
    await rename(path, aside)
  } catch (error) {
    await rm(aside, { force: true })
    // Somebody else was faster.
    if (isMissing(error)) return
    throw error
  }
  if (await isGood(aside)) await rename(aside, path)
  await syncFolder(dirname(path))
}

/** Taken by an empty file, since a rename would replace what is there. */
const freeName = async (path: string): Promise<string> => {
  for (let number = 1; ; number += 1) {
    const name = `${path}.corrupt-${number}`
    try {
      await (await open(name, 'wx', 0o600)).close()
      return name
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error
    }
  }
}
