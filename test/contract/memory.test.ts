import { memoryEventStore } from '../../adapters/memory/memoryEventStore.ts'
import { eventStoreContract } from './eventStoreContract.ts'

eventStoreContract('the memory store', async () => {
  const store = memoryEventStore()
  return { store, close: () => store.close() }
})
