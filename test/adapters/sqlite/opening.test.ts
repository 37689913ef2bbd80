import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { typeIn } from '../../../adapters/sqlite/hostFileSystem.ts'
import { openDatabase, openPlainDatabase } from '../../../adapters/sqlite/openDatabase.ts'
import { sqliteStore } from '../../../adapters/sqlite/sqliteStore.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import { InvalidInputError, StoreUnavailable } from '../../../domain/errors.ts'
import { sealedEvents } from '../../contract/sealedEvents.ts'
import { temporaryFolder } from '../../contract/temporaryFolder.ts'
import { hurriedClock } from './hurriedClock.ts'

describe('opening a folder', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => folder.remove())

  const open = (path = folder.path, overrides: Parameters<typeof sqliteStore>[2] = {}) =>
    sqliteStore(path, systemClock(), overrides)
  const refusal = async (opening: Promise<unknown>): Promise<InvalidInputError> => {
    const error: unknown = await opening.catch((raised: unknown) => raised)
    expect(error).toBeInstanceOf(InvalidInputError)
    return error as InvalidInputError
  }

  test('makes it, and those around it, for the owner alone', async () => {
    const path = join(folder.path, 'a/b')
    await (await open(path)).close()
    expect((await stat(path)).mode & 0o777).toBe(0o700)
  })

  test('gives one store for two names of the folder', async () => {
    const [path, link] = [join(folder.path, 'real'), join(folder.path, 'link')]
    await symlink(path, link)
    const [one, two] = [await open(path), await open(link)]
    await one.events.append('job-a', sealedEvents('job-a', 1), 'no-stream')
    expect(await two.events.readStream('job-a')).toHaveLength(1)
    expect(two.artifactsFolder).toBe(one.artifactsFolder)
    await one.close()
    await two.close()
  })

  test.each(['3.51.2', '3.50.6', '3.44.5', '3.49.1', '3.45.1', '2.8.17'])(
    'is refused with SQLite %s, which can corrupt a shared log',
    async (sqliteVersion) => {
      const error = await refusal(open(folder.path, { sqliteVersion }))
      expect(error.message).toContain(`SQLite ${sqliteVersion} can corrupt`)
      expect(error.message).toContain('install better-sqlite3')
    },
  )

  test.each(['3.51.3', '3.50.7', '3.44.6', '3.51.10', '3.53.2', '4.0.0'])(
    'works with SQLite %s',
    async (sqliteVersion) => {
      const store = await open(folder.path, { sqliteVersion })
      expect(await store.events.head()).toBe('')
      await store.close()
    },
  )

  test.each(['log.db', 'views.db'])('is refused when its %s is of a newer version of this program', async (name) => {
    await (await open()).close()
    const file = openPlainDatabase(join(folder.path, name))
    file.exec('PRAGMA user_version = 99')
    file.close()
    const error = await refusal(open())
    expect(error.message).toContain('newer version of this program (format 99')
    expect(error.message).toContain(name)
  })

  test.each(['nfs', 'nfs4', 'cifs', 'smb3', '9p', 'ceph', 'fuse.sshfs', 'fuse.glusterfs', 'afs'])(
    'is refused on a network file system (%s)',
    async (type) => {
      const error = await refusal(open(folder.path, { fileSystemOf: () => type }))
      expect(error.message).toContain(`network file system (${type})`)
      expect(error.message).toContain('choose a folder on a local disk')
    },
  )

  test.each(['ext4', 'xfs', 'btrfs', 'tmpfs', 'overlay', 'fuse.fuse-overlayfs', 'zfs', 'apfs', null])(
    'works on %s',
    async (type) => {
      const store = await open(folder.path, { fileSystemOf: () => type })
      expect(await store.events.head()).toBe('')
      await store.close()
    },
  )

  test('is refused where there is a file, or a file on the way', async () => {
    const path = join(folder.path, 'file')
    await writeFile(path, 'mine')
    expect((await refusal(open(path))).message).toContain('is a file')
    expect((await refusal(open(join(path, 'inside')))).message).toContain('inside of a file')
  })

  test('is refused where no folder can be made, by the reason', async () => {
    // Linux alone has such a place for everybody; Node's own recursive making of folders never ends there.
    const nowhere = process.platform === 'linux' ? '/proc/knovaryn/store' : '/dev/null/store'
    await expect(open(nowhere)).rejects.toThrow(/cannot be used \(ENOENT\): no folder can be made there|inside of a file/)
    const link = join(folder.path, 'link')
    await symlink(join(folder.path, 'nowhere', 'at-all'), link)
    await expect(open(link)).rejects.toThrow(`${link} cannot be used (EEXIST): a link to nothing has that name`)
  })

  test('syncs the log on every commit, and the views only at checkpoints', async () => {
    const synchronous = (how: 'FULL' | 'NORMAL') => {
      const path = join(folder.path, `${how}.db`)
      const database = openDatabase({ path, synchronous: how, schema: 'CREATE TABLE t (x)', schemaVersion: 1 })
      const [row] = database.prepare('PRAGMA synchronous').rows()
      database.close()
      return row?.[0]
    }
    expect([synchronous('FULL'), synchronous('NORMAL')]).toEqual([2, 1])
    const source = (name: string) => readFile(new URL(`../../../adapters/sqlite/${name}.ts`, import.meta.url), 'utf8')
    expect(await source('sqliteEventStore')).toContain(`synchronous: 'FULL'`)
    expect(await source('sqliteViewStore')).toContain(`synchronous: 'NORMAL'`)
  })

  test('keeps the events in the public table', async () => {
    const store = await open()
    await store.events.append('job-a', sealedEvents('job-a', [{ data: '{"n":1}' }]), 'no-stream')
    const file = openPlainDatabase(join(folder.path, 'log.db'))
    const columns = file.prepare('SELECT name FROM pragma_table_info(?)').rows('events').flat()
    expect(columns).toEqual([
      'position', 'stream', 'revision', 'id', 'type', 'schema_version', 'recorded_at', 'data', 'meta', 'hash',
    ])
    expect(file.prepare('SELECT stream, revision, data FROM events').rows()).toEqual([['job-a', 0, '{"n":1}']])
    file.close()
    await store.close()
  })

  test.each(['log.db', 'views.db'])('is refused when a folder stands where %s belongs', async (name) => {
    await mkdir(join(folder.path, name))
    const error: unknown = await sqliteStore(folder.path, hurriedClock()).catch((raised: unknown) => raised)
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).toMatchObject({ message: expect.stringContaining(name) })
  })
})

describe('the type of a file system', () => {
  const mountinfo = [
    '22 1 254:0 / / rw,relatime - ext4 /dev/vda rw',
    '30 22 0:40 / /srv rw - nfs4 server:/srv rw,vers=4.2',
    '31 30 0:41 / /srv/local rw master:1 - xfs /dev/vdb rw',
    '32 22 0:42 / /mnt/with\\040space rw - cifs //server/share rw',
    '33 22 0:43 / /over rw - nfs server:/ rw',
    '34 33 0:44 / /over rw - tmpfs tmpfs rw',
    '',
  ].join('\n')

  test.each([
    ['/data', 'ext4'],
    ['/srv', 'nfs4'],
    ['/srv/me/store', 'nfs4'],
    ['/srvs', 'ext4'],
    ['/srv/local/store', 'xfs'],
    ['/mnt/with space/store', 'cifs'],
    ['/over/store', 'tmpfs'],
  ])('of %s is %s, by the longest and last mount point around it', (path, type) => {
    expect(typeIn(mountinfo, path)).toBe(type)
  })

  test('is unknown where nothing is said', () => {
    expect(typeIn('', '/data')).toBeNull()
  })
})
