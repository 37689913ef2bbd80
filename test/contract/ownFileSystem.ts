import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { temporaryFolder } from './temporaryFolder.ts'

const run = promisify(execFile)

/** A small file system of its own: it can be full or read-only without harm to anybody. */
export type OwnFileSystem = {
  readonly path: string
  remount(access: 'ro' | 'rw'): Promise<void>
  unmount(): Promise<void>
  remove(): Promise<void>
}

export const ownFileSystem = async (megabytes: number): Promise<OwnFileSystem> => {
  const folder = await temporaryFolder()
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder.path])
  const unmount = async (): Promise<void> => void (await run('umount', ['--lazy', folder.path]))
  return {
    path: folder.path,
    remount: async (access) => void (await run('mount', ['-o', `remount,${access}`, folder.path])),
    unmount,
    remove: async () => {
      await unmount().catch(() => {})
      await folder.remove()
    },
  }
}

/** Why this machine cannot give a test a file system of its own, or null where it can. */
export const whyNoOwnFileSystem = async (): Promise<string | null> => {
  try {
    await (await ownFileSystem(1)).remove()
    return null
  } catch {
    return 'skipped: mounting a file system needs rights that this user does not have'
  }
}

/** Makes files unwritable even for an administrator, and for whoever has them open already. */
export const setImmutable = async (paths: readonly string[], immutable: boolean): Promise<void> =>
  void (await run('chattr', [immutable ? '+i' : '-i', ...paths]))

/** Why this machine cannot make a file unwritable, or null where it can. */
export const whyNotImmutable = async (): Promise<string | null> => {
  const folder = await temporaryFolder()
  try {
    const path = `${folder.path}/file`
    await writeFile(path, '')
    await setImmutable([path], true)
    await setImmutable([path], false)
    return null
  } catch {
    return 'skipped: making a file immutable needs rights, or a file system, that are not here'
  } finally {
    await folder.remove()
  }
}
