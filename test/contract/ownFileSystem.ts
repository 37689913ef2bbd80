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

/** Makes files unwritable even for an administrator, and for whoever has them open already. */
export const setImmutable = async (paths: readonly string[], immutable: boolean): Promise<void> =>
  void (await run('chattr', [immutable ? '+i' : '-i', ...paths]))

export type Possible = { readonly mounting: readonly string[]; readonly freezing: readonly string[] }

/**
 * The names of what this user may do here, for tests that need it: one test each. Mounting and freezing take an
 * administrator's rights; where they are missing, what the tests of pretended trouble show has to do.
 */
export const possible = async (): Promise<Possible> => {
  const mounting = await isPossible(async () => (await ownFileSystem(1)).remove())
  const freezing = await isPossible(async (folder) => {
    const path = `${folder}/file`
    await writeFile(path, '')
    await setImmutable([path], true)
    await setImmutable([path], false)
  })
  return { mounting: mounting ? ['a mounted file system'] : [], freezing: freezing ? ['frozen files'] : [] }
}

const isPossible = async (attempt: (folder: string) => Promise<void>): Promise<boolean> => {
  const folder = await temporaryFolder()
  try {
    await attempt(folder.path)
    return true
  } catch {
    return false
  } finally {
    await folder.remove()
  }
}
