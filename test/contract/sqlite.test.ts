import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import { sqliteEventStore } from '../../adapters/sqlite/sqliteEventStore.ts'
import { sqlitePresence } from '../../adapters/sqlite/sqlitePresence.ts'
import { sqliteViewStore } from '../../adapters/sqlite/sqliteViewStore.ts'
import { systemClock } from '../../adapters/system/systemClock.ts'
import { machine } from '../adapters/sqlite/elsewhere.ts'
import type { Machine } from '../adapters/sqlite/elsewhere.ts'
import { durableEventStoreContract, durableViewStoreContract } from './durableStoreContract.ts'
import { eventStoreContract } from './eventStoreContract.ts'
import { presenceContract } from './presenceContract.ts'
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

const openLog = () => inFolder((folder) => sqliteEventStore(join(folder, 'log.db'), systemClock()))
const openViews = () => inFolder((folder) => sqliteViewStore(join(folder, 'views.db'), systemClock()))

eventStoreContract('the SQLite store', openLog)
durableEventStoreContract('the SQLite store', openLog)
viewStoreContract('the SQLite store', openViews)
durableViewStoreContract('the SQLite store', openViews)

let others: Machine
beforeAll(async () => {
  others = await machine()
}, 60_000)
afterAll(() => others.close())

presenceContract('a lock of SQLite', async () => {
  const folder = await temporaryFolder()
  const presence = sqlitePresence(join(folder.path, 'workers'), systemClock())
  return {
    presence,
    elsewhere: async (workerId) => {
      const worker = others.start('announce', folder.path, workerId)
      await worker.next()
      return { kill: worker.kill }
    },
    close: async () => {
      presence.close()
      await folder.remove()
    },
  }
})
