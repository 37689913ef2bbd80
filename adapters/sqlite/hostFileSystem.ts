import { readFileSync, realpathSync } from 'node:fs'
import { InvalidInputError } from '../../domain/errors.ts'

/** The type of the file system that a folder is on, or null where the host does not say. */
export type FileSystemOf = (folder: string) => string | null

const kernel = 'nfs4? cifs smbfs smb[23] 9p ceph glusterfs lustre beegfs gpfs afs coda ncpfs orangefs ocfs2 gfs2 davfs'
const userSpace = 'sshfs cephfs? ceph-fuse glusterfs s3fs mount-s3 gcsfuse rclone davfs2? smbnetfs juicefs'
const network = new RegExp(`^(${kernel.replaceAll(' ', '|')}|fuse\\.(${userSpace.replaceAll(' ', '|')}))$`)

/** Raises `InvalidInputError` for a folder on a network file system: SQLite's locks and shared memory fail there. */
export const refuseNetworkFileSystem = (folder: string, fileSystemOf: FileSystemOf): void => {
  const type = fileSystemOf(folder)
  if (type === null || !network.test(type)) return
  throw new InvalidInputError(
    `${folder} is on a network file system (${type}), where SQLite can lose data; ` +
      'choose a folder on a local disk, or an esdb:// store to share the log between machines',
    { folder, fileSystem: type },
  )
}

/** Linux tells in /proc; elsewhere nothing is known. */
export const hostFileSystemOf: FileSystemOf = (folder) => {
  try {
    return typeIn(readFileSync('/proc/self/mountinfo', 'utf8'), realpathSync(folder))
  } catch {
    return null
  }
}

/** Reads the text of `/proc/self/mountinfo` (proc(5)). */
export const typeIn = (mountinfo: string, path: string): string | null => {
  let found: { mountPoint: string; type: string } | null = null
  for (const line of mountinfo.split('\n')) {
    const [before = '', after = ''] = line.split(' - ')
    const mountPoint = unescaped(before.split(' ')[4] ?? '')
    const [type = ''] = after.split(' ')
    if (type === '' || !isInside(path, mountPoint)) continue
    // A later line covers an earlier one of the same mount point.
    if (found === null || mountPoint.length >= found.mountPoint.length) found = { mountPoint, type }
  }
  return found?.type ?? null
}

const isInside = (path: string, mountPoint: string): boolean =>
  mountPoint === '/' || path === mountPoint || path.startsWith(`${mountPoint}/`)

const unescaped = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)))
