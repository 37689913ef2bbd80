import { memoryArtifactStore } from '../../adapters/memory/memoryArtifactStore.ts'
import { memoryEventStore } from '../../adapters/memory/memoryEventStore.ts'
import { memoryViewStore } from '../../adapters/memory/memoryViewStore.ts'
import { sha256 } from '../../adapters/system/sha256.ts'
import { artifactStoreContract } from './artifactStoreContract.ts'
import { eventStoreContract } from './eventStoreContract.ts'
import { viewStoreContract } from './viewStoreContract.ts'

eventStoreContract('the memory store', async () => {
  const store = memoryEventStore()
  return { store, close: () => store.close() }
})

viewStoreContract('the memory store', async () => {
  const store = memoryViewStore()
  return { store, close: () => store.close() }
})

artifactStoreContract('the memory store', async () => ({
  store: memoryArtifactStore(sha256),
  close: async () => {},
}))
