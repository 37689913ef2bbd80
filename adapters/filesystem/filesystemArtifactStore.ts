import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ArtifactCorrupt, StoreUnavailable } from '../../domain/errors.ts'
import type { ArtifactName, ArtifactStore } from '../../domain/ports/artifactStore.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import { makeFolders, syncFolder, writeDurably } from './durableFile.ts'
import { isMissing, orUnavailable } from './fileTrouble.ts'
import { projectFolder } from './projectFolder.ts'
import { setAside } from './setAside.ts'

const pageSize = 1000
const leftoverMsMin = 60 * 60 * 1000

const isHash = (name: string): boolean => /^[0-9a-f]{64}$/.test(name)
const holds = async (path: string, sha256: string): Promise<boolean> => sha256Of(await readFile(path)) === sha256
const sha256Of = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** Artifacts as files: `<root>/<project>/<first two hex digits>/<sha256>`. Any number of processes may share it. */
export const filesystemArtifactStore = async (root: string, clock: Clock): Promise<ArtifactStore> => {
  // Neither can be a project's folder: those hold no dot.
  const incoming = join(root, '.incoming')
  const mark = join(root, '.artifacts')
  const durable = new Set<string>()

  const folderOf = (projectId: string, sha256: string): string =>
    join(root, projectFolder(projectId), sha256.slice(0, 2))
  const pathOf = (projectId: string, sha256: string): string => join(folderOf(projectId, sha256), sha256)

  /** Null where there is no such entry, as long as the root is in place: an unmounted disk has lost nothing. */
  const orMissing = async <T>(work: () => Promise<T>): Promise<T | null> => {
    try {
      return await work()
    } catch (error) {
      if (!isMissing(error)) throw error
    }
    if ((await fileSize(mark)) !== null) return null
    throw new StoreUnavailable(`artifacts in ${root}: the folder is not the one that was opened: is its disk mounted?`)
  }

  const namesIn = async (folder: string): Promise<readonly string[]> =>
    ((await orMissing(() => readdir(folder))) ?? []).toSorted()

  await orUnavailable(root, async () => {
    await mkdir(incoming, { recursive: true, mode: 0o700 })
    if ((await fileSize(mark)) === null) {
      await writeFile(mark, '')
      await syncFolder(root)
      await syncFolder(dirname(root))
    }
    await removeLeftovers(incoming, clock.now() - leftoverMsMin)
  })

  return {
    put: (projectId, content) =>
      orUnavailable(root, async () => {
        const sha256 = sha256Of(content)
        const path = pathOf(projectId, sha256)
        const stored = await orMissing(() => readFile(path))
        if (stored?.equals(content) === true) {
          // Whoever renamed it may not have come to this yet.
          await syncFolder(folderOf(projectId, sha256))
          return { sha256, bytes: content.byteLength }
        }
        if (stored !== null) await setAside(path, (aside) => holds(aside, sha256))
        await makeFolders(root, folderOf(projectId, sha256), durable)
        await writeDurably(path, content, incoming)
        return { sha256, bytes: content.byteLength }
      }),

    get: (projectId, sha256) =>
      orUnavailable(root, async () => {
        if (!isHash(sha256)) return null
        const path = pathOf(projectId, sha256)
        const stored = await orMissing(() => readFile(path))
        if (stored === null) return null
        if (sha256Of(stored) === sha256) return new Uint8Array(stored.buffer, stored.byteOffset, stored.byteLength)
        await setAside(path, (aside) => holds(aside, sha256))
        throw new ArtifactCorrupt(sha256, `artifact ${sha256} is damaged: its bytes have another hash; kept aside`)
      }),

    has: (projectId, sha256) =>
      orUnavailable(root, async () => {
        if (!isHash(sha256)) return false
        return (await orMissing(() => stat(pathOf(projectId, sha256)))) !== null
      }),

    list: (projectId, { after = '', limit = pageSize } = {}) =>
      orUnavailable(root, async () => {
        const found: ArtifactName[] = []
        const project = join(root, projectFolder(projectId))
        for (const prefix of await namesIn(project)) {
          if (!/^[0-9a-f]{2}$/.test(prefix) || prefix < after.slice(0, 2)) continue
          for (const sha256 of await namesIn(join(project, prefix))) {
            if (!isHash(sha256) || sha256 <= after) continue
            if (found.length === limit) return found
            const bytes = await fileSize(join(project, prefix, sha256))
            if (bytes !== null) found.push({ sha256, bytes })
          }
        }
        return found
      }),
  }
}

const fileSize = async (path: string): Promise<number | null> => {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

/** Removes what a killed process has left. What is younger may still be on its way. */
const removeLeftovers = async (incoming: string, olderThan: number): Promise<void> => {
  for (const name of await readdir(incoming)) {
    const path = join(incoming, name)
    try {
      if ((await stat(path)).mtimeMs < olderThan) await rm(path, { force: true })
    } catch (error) {
      if (!isMissing(error)) throw error
    }
  }
}
