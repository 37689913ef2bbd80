import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../domain/ports/clock.ts'
import type { EventStore } from '../../domain/ports/eventStore.ts'
import type { Presence } from '../../domain/ports/presence.ts'
import type { SnapshotStore, ViewStore } from '../../domain/ports/viewStore.ts'
import type { FileSystemOf } from './hostFileSystem.ts'
import { sqliteVersion } from './openDatabase.ts'
import type { SqliteOverrides } from './openDatabase.ts'
import { sqliteEventStore } from './sqliteEventStore.ts'
import { sqlitePresence } from './sqlitePresence.ts'
import { sqliteViewStore } from './sqliteViewStore.ts'
import { storeFolder } from './storeFolder.ts'

export type SqliteStore = {
  readonly events: EventStore
  readonly views: ViewStore & SnapshotStore
  readonly presence: Presence
  /** Their real paths. */
  readonly folder: string
  readonly viewsFolder: string
  /** Of the SQLite that works on it. */
  sqliteVersion(): string
  /** Where artifacts belong when nothing else was asked for. */
  readonly artifactsFolder: string
  close(): Promise<void>
}

/**
 * Opens, or makes, everything that one folder holds: `log.db` (the truth), `views.db` (disposable), `workers/`.
 * Any number of processes of one machine may share it.
 */
export const sqliteStore = async (
  path: string,
  clock: Clock,
  overrides: SqliteOverrides & {
    readonly fileSystemOf?: FileSystemOf
    /** Where `views.db` lies. Default: the folder of the store. */
    readonly viewsFolder?: string
  } = {},
): Promise<SqliteStore> => {
  const folder = storeFolder(path, overrides.fileSystemOf)
  const { viewsFolder: elsewhere } = overrides
  const viewsFolder = elsewhere === undefined ? folder : storeFolder(elsewhere, overrides.fileSystemOf)
  const workers = join(folder, 'workers')
  mkdirSync(workers, { recursive: true, mode: 0o700 })
  const events = await sqliteEventStore(join(folder, 'log.db'), clock, overrides)
  try {
    const views = await sqliteViewStore(join(viewsFolder, 'views.db'), clock, overrides)
    const presence = sqlitePresence(workers, clock)
    return {
      events,
      views,
      presence,
      folder,
      viewsFolder,
      sqliteVersion,
      artifactsFolder: join(folder, 'artifacts'),
      close: async () => {
        await Promise.all([events.close(), views.close()])
        presence.close()
      },
    }
  } catch (error) {
    await events.close()
    throw error
  }
}
