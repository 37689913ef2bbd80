import { join } from 'node:path'
import { sqliteEventStore } from '../../adapters/sqlite/sqliteEventStore.ts'
import { systemClock } from '../../adapters/system/systemClock.ts'
import { eventStoreContract } from './eventStoreContract.ts'
import { temporaryFolder } from './temporaryFolder.ts'

eventStoreContract('the SQLite store', async () => {
  const folder = await temporaryFolder()
  const open = () => sqliteEventStore(join(folder.path, 'log.db'), systemClock())
  const store = await open()
  return {
    store,
    again: open,
    close: async () => {
      await store.close()
      await folder.remove()
    },
  }
})
