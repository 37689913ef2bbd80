import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { filesystemArtifactStore } from '../../adapters/filesystem/filesystemArtifactStore.ts'
import { projectFolder } from '../../adapters/filesystem/projectFolder.ts'
import { systemClock } from '../../adapters/system/systemClock.ts'
import { artifactStoreContract, damagedArtifactContract } from './artifactStoreContract.ts'
import type { OpenDamageableArtifactStore } from './artifactStoreContract.ts'
import { temporaryFolder } from './temporaryFolder.ts'

const inFolder: OpenDamageableArtifactStore = async () => {
  const folder = await temporaryFolder()
  return {
    store: await filesystemArtifactStore(folder.path, systemClock()),
    damage: (projectId, sha256, content) =>
      writeFile(join(folder.path, projectFolder(projectId), sha256.slice(0, 2), sha256), content),
    close: folder.remove,
  }
}

artifactStoreContract('the filesystem store', inFolder)
damagedArtifactContract('the filesystem store', inFolder)
