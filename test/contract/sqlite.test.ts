import { join } from 'node:path'
import { sqliteEventStore } from '../../adapters/sqlite/sqliteEventStore.ts'
import { sqliteViewStore } from '../../adapters/sqlite/sqliteViewStore.ts'
import { systemClock } from '../../adapters/system/systemClock.ts'
import { eventStoreContract } from './eventStoreContract.ts'
import { temporaryFolder } from './temporaryFolder.ts'
import { viewStoreContract } from './viewStoreContract.ts'

const inFolder = async <Store extends { close(): Promise<void> }>(open: (folder: string) => Promise<Store>) => {
  const folder = await temporaryFolder()
  const store = await open(folder.path)
  return {
    store,
    again: () => open(folder.path),
    close: async () => {
      await store.close()
      await folder.remove()
    },
  }
}

eventStoreContract('the SQLite store', () =>
  inFolder((folder) => sqliteEventStore(join(folder, 'log.db'), systemClock())),
)

viewStoreContract('the SQLite store', () =>
  inFolder((folder) => sqliteViewStore(join(folder, 'views.db'), systemClock())),
)
