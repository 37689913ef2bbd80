import { memoryArtifactStore } from '../../adapters/memory/memoryArtifactStore.ts'
import { memoryEventStore } from '../../adapters/memory/memoryEventStore.ts'
import { memoryViewStore } from '../../adapters/memory/memoryViewStore.ts'
import { sha256 } from '../../adapters/system/sha256.ts'
import { artifactStoreContract } from './artifactStoreContract.ts'
import { eventStoreContract } from './eventStoreContract.ts'
import { viewStoreContract } from './viewStoreContract.ts'

const opened = <Store extends { close(): Promise<void> }>(store: Store) => ({ store, close: () => store.close() })

eventStoreContract('the memory store', async () => opened(memoryEventStore()))

viewStoreContract('the memory store', async () => opened(memoryViewStore()))

artifactStoreContract('the memory store', async () => ({
  store: memoryArtifactStore(sha256),
  close: async () => {},
}))
