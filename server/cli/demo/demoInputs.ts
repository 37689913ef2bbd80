import { cp, writeFile } from 'node:fs/promises'
import { Config } from '../../config.ts'
import type { Submission } from '../../engine.ts'
import { readDocuments } from '../readDocuments.ts'
import type { DemoFolder } from './demoFolder.ts'
import { documentsPath } from './demoProcesses.ts'
import {
  budgetUsd,
  callsAtOnce,
  demoPrices,
  model,
  parameters,
  providerName,
  replaysForSeconds,
  target,
} from './demoSetting.ts'

/** Writes what a person would have there: documents, prices and a configuration that every command can use. */
export const writeInputs = async (folder: DemoFolder, baseUrl: string): Promise<Config> => {
  const store = `sqlite:${folder.store}`
  const providers = { [providerName]: { baseUrl, replaysForSeconds } }
  const settings = {
    store,
    type: 'dataset',
    provider: providerName,
    model,
    target,
    set: parameters,
    concurrency: callsAtOnce,
    budgetUsd,
    priceProfile: [folder.prices],
    providers,
  }
  await cp(documentsPath, folder.documents, { recursive: true })
  await writeFile(folder.prices, jsonText(demoPrices))
  await writeFile(folder.config, jsonText(settings))
  return Config.parse({ store, providers })
}

const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** What `knovaryn submit documents --config knovaryn.json` would submit. */
export const demoSubmission = async (folder: DemoFolder, baseUrl: string): Promise<Submission> => ({
  type: 'dataset',
  files: await readDocuments([folder.documents]),
  provider: { name: providerName, baseUrl },
  model,
  parameters,
  target,
  limits: { maximumCostUsd: budgetUsd },
  priceProfiles: [demoPrices],
  concurrency: callsAtOnce,
})
