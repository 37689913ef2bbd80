import { mkdir, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { filesystemArtifactStore } from '../../../adapters/filesystem/filesystemArtifactStore.ts'
import { projectFolder } from '../../../adapters/filesystem/projectFolder.ts'
import { setAside } from '../../../adapters/filesystem/setAside.ts'
import { sha256 } from '../../../adapters/system/sha256.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import { ArtifactCorrupt, StoreUnavailable } from '../../../domain/errors.ts'
import type { ArtifactStore } from '../../../domain/ports/artifactStore.ts'
import { ownFileSystem, possible } from '../../contract/ownFileSystem.ts'
import type { OwnFileSystem } from '../../contract/ownFileSystem.ts'
import { temporaryFolder } from '../../contract/temporaryFolder.ts'

const { mounting } = await possible()
const content = Buffer.from('content that is long enough to be damaged')
const name = sha256(content)

const raised = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'accepted',
    (error: unknown) => error,
  )

describe('artifacts in a folder', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let store: ArtifactStore
  const pathOf = (hash: string) => join(folder.path, 'default', hash.slice(0, 2), hash)
  beforeEach(async () => {
    folder = await temporaryFolder()
    store = await filesystemArtifactStore(join(folder.path), systemClock())
  })
  afterEach(() => folder.remove())

  test('stand at project, first two digits and hash, readable by their owner alone', async () => {
    await store.put('default', content)
    expect(await readFile(pathOf(name))).toEqual(content)
    expect((await stat(pathOf(name))).mode & 0o777).toBe(0o600)
    expect((await stat(join(folder.path, 'default'))).mode & 0o777).toBe(0o700)
  })

  test('never leave their folder, whatever the id of the project', async () => {
    await store.put('../../outside', content)
    await store.put('/etc', content)
    await store.put('..', content)
    const names = await readdir(folder.path)
    expect(names.toSorted()).toEqual(['%2e%2e', '%2e%2e%2f%2e%2e%2foutside', '%2fetc', '.artifacts', '.incoming'])
  })

  test('that are damaged are kept aside, each under a name of its own, and are not known any more', async () => {
    for (const damaged of ['first damage', 'second damage']) {
      await store.put('default', content)
      await writeFile(pathOf(name), damaged)
      expect(await raised(store.get('default', name))).toBeInstanceOf(ArtifactCorrupt)
      expect(await store.has('default', name)).toBe(false)
      expect(await store.get('default', name)).toBeNull()
    }
    expect(await readFile(`${pathOf(name)}.corrupt-1`, 'utf8')).toBe('first damage')
    expect(await readFile(`${pathOf(name)}.corrupt-2`, 'utf8')).toBe('second damage')
    expect(await store.list('default')).toEqual([])
  })

  test('that are damaged are kept aside by a put of the right bytes too', async () => {
    await store.put('default', content)
    await writeFile(pathOf(name), 'damage')
    await store.put('default', content)
    expect(Buffer.from((await store.get('default', name))!)).toEqual(content)
    expect(await readFile(`${pathOf(name)}.corrupt-1`, 'utf8')).toBe('damage')
  })

  test('end up right when many get and put a damaged one at once', async () => {
    await store.put('default', content)
    await writeFile(pathOf(name), 'damage')
    const work = Array.from({ length: 20 }, (_, index) =>
      index % 2 === 0 ? raised(store.get('default', name)) : store.put('default', content),
    )
    await Promise.all(work)
    expect(Buffer.from((await store.get('default', name))!)).toEqual(content)
  })

  test('that somebody else has put right meanwhile are moved back into their place', async () => {
    await store.put('default', content)
    const isGood = async (path: string) => (await readFile(path)).equals(content)
    await setAside(pathOf(name), isGood)
    expect(await readFile(pathOf(name))).toEqual(content)
    await writeFile(pathOf(name), 'damage')
    await setAside(pathOf(name), isGood)
    expect(await store.get('default', name)).toBeNull()
    expect(await readFile(`${pathOf(name)}.corrupt-1`, 'utf8')).toBe('damage')
  })

  test('are not written again when the same bytes come again', async () => {
    await store.put('default', content)
    const { ino, mtimeMs } = await stat(pathOf(name))
    await store.put('default', content)
    expect(await stat(pathOf(name))).toMatchObject({ ino, mtimeMs })
  })

  test('are never called missing when their folder is not there: that is a fault of the disk', async () => {
    await store.put('default', content)
    await rename(folder.path, `${folder.path}-away`)
    const verbs: readonly (() => Promise<unknown>)[] = [
      () => store.get('default', name),
      () => store.has('default', name),
      () => store.list('default'),
      () => store.put('default', content),
    ]
    for (const verb of verbs) expect(await raised(verb())).toBeInstanceOf(StoreUnavailable)
    // As when a disk is not mounted: the folder is there, and empty.
    await mkdir(folder.path)
    expect(await raised(store.get('default', name))).toBeInstanceOf(StoreUnavailable)
    expect(await raised(store.put('default', content))).toBeInstanceOf(StoreUnavailable)
    expect(await readdir(folder.path)).toEqual([])
    await rm(folder.path, { recursive: true })
    await rename(`${folder.path}-away`, folder.path)
    expect(Buffer.from((await store.get('default', name))!)).toEqual(content)
  })

  test('are not mixed up with what else lies in the folder', async () => {
    await store.put('default', content)
    await writeFile(join(folder.path, 'default', '.DS_Store'), '')
    await writeFile(join(folder.path, 'default', name.slice(0, 2), 'note'), '')
    expect(await store.list('default')).toEqual([{ sha256: name, bytes: content.length }])
  })

  test('that a killed process left half-written are removed after an hour, and not before', async () => {
    const incoming = join(folder.path, '.incoming')
    await writeFile(join(incoming, 'old'), 'half')
    await writeFile(join(incoming, 'new'), 'half')
    const hourAgo = (Date.now() - 61 * 60 * 1000) / 1000
    await utimes(join(incoming, 'old'), hourAgo, hourAgo)
    await filesystemArtifactStore(folder.path, systemClock())
    expect(await readdir(incoming)).toEqual(['new'])
  })

  test('leave nothing half-written behind when they cannot be put', async () => {
    await writeFile(join(folder.path, 'default'), 'a file where the folder belongs')
    expect(await raised(store.put('default', content))).toBeInstanceOf(StoreUnavailable)
    expect(await readdir(join(folder.path, '.incoming'))).toEqual([])
  })
})

describe.each(mounting)('artifacts on %s', () => {
  let disk: OwnFileSystem
  beforeEach(async () => {
    disk = await ownFileSystem(2)
  })
  afterEach(() => disk.remove())

  test('fail whole and by name when it is full, stay readable, and can be put again when there is space', async () => {
    const store = await filesystemArtifactStore(disk.path, systemClock())
    await store.put('default', content)
    const large = Buffer.alloc(3 * 1024 * 1024, 1)
    const error = await raised(store.put('default', large))
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject({ message: expect.stringMatching(/disk is full.*ENOSPC/) })
    expect(await store.has('default', sha256(large))).toBe(false)
    expect(await readdir(join(disk.path, '.incoming'))).toEqual([])
    expect(Buffer.from((await store.get('default', name))!)).toEqual(content)
    await store.put('default', Buffer.alloc(1024 * 1024, 2))
  })

  test('fail by name when it is read-only, and can be put again when it is writable', async () => {
    const store = await filesystemArtifactStore(disk.path, systemClock())
    await store.put('default', content)
    await disk.remount('ro')
    expect(await raised(store.put('default', Buffer.from('more')))).toMatchObject({
      code: 'store_unavailable',
      message: expect.stringMatching(/read-only.*EROFS/),
    })
    expect(Buffer.from((await store.get('default', name))!)).toEqual(content)
    await disk.remount('rw')
    await store.put('default', Buffer.from('more'))
  })

  test('are away, not missing, when it is unmounted', async () => {
    const store = await filesystemArtifactStore(disk.path, systemClock())
    await store.put('default', content)
    await disk.unmount()
    expect(await raised(store.get('default', name))).toBeInstanceOf(StoreUnavailable)
    expect(await raised(store.has('default', name))).toBeInstanceOf(StoreUnavailable)
  })
})

describe('the folder of a project', () => {
  test('is its id where that is plain', () => {
    expect(projectFolder('my-project_2')).toBe('my-project_2')
  })

  test('spells out whatever a file system could take for something else', () => {
    expect(projectFolder('A.b/ä')).toBe('%41%2eb%2f%c3%a4')
  })

  test('is short and distinct for ids of any length', () => {
    const [one, two] = [projectFolder('x'.repeat(5000)), projectFolder(`${'x'.repeat(5000)}y`)]
    expect(one.length).toBeLessThan(100)
    expect(one).not.toBe(two)
  })
})
