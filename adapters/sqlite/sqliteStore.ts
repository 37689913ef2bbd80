import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../../domain/ports/clock.ts'
import type { EventStore } from '../../domain/ports/eventStore.ts'
import type { Presence } from '../../domain/ports/presence.ts'
import type { SnapshotStore, ViewStore } from '../../domain/ports/viewStore.ts'
import type { FileSystemOf } from './hostFileSystem.ts'
import type { SqliteOverrides } from './openDatabase.ts'
import { sqliteEventStore } from './sqliteEventStore.ts'
import { sqlitePresence } from './sqlitePresence.ts'
import { sqliteViewStore } from './sqliteViewStore.ts'
import { storeFolder } from './storeFolder.ts'

export type SqliteStore = {
  readonly events: EventStore
  readonly views: ViewStore & SnapshotStore
  readonly presence: Presence
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
  overrides: SqliteOverrides & { readonly fileSystemOf?: FileSystemOf } = {},
): Promise<SqliteStore> => {
  const folder = storeFolder(path, overrides.fileSystemOf)
  const workers = join(folder, 'workers')
  mkdirSync(workers, { recursive: true, mode: 0o700 })
  const events = await sqliteEventStore(join(folder, 'log.db'), clock, overrides)
  try {
    const views = await sqliteViewStore(join(folder, 'views.db'), clock, overrides)
    const presence = sqlitePresence(workers, clock)
    return {
      events,
      views,
      presence,
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
