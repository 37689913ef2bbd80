import { readFile, writeFile } from 'node:fs/promises'
import { Config } from '../../config.ts'
import type { Submission } from '../../engine.ts'
import type { DemoFolder } from './demoFolder.ts'
import type { DemoPrompt } from './demoPrompts.ts'
import {
  budgetUsd,
  callsAtOnce,
  demoPrices,
  maxOutputTokens,
  model,
  providerName,
  replaysForSeconds,
} from './demoSetting.ts'

/** Writes what a person would have written: prompts, prices and a configuration that every command can use. */
export const writeInputs = async (
  folder: DemoFolder,
  prompts: readonly DemoPrompt[],
  baseUrl: string,
): Promise<Config> => {
  const store = `sqlite:${folder.store}`
  const providers = { [providerName]: { baseUrl, replaysForSeconds } }
  const settings = {
    store,
    provider: providerName,
    model,
    maxOutputTokens,
    concurrency: callsAtOnce,
    budgetUsd,
    priceProfile: [folder.prices],
    providers,
  }
  await writeFile(folder.prompts, prompts.map((prompt) => `${JSON.stringify(prompt)}\n`).join(''))
  await writeFile(folder.prices, jsonText(demoPrices))
  await writeFile(folder.config, jsonText(settings))
  return Config.parse({ store, providers })
}

const jsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** What `knovaryn submit prompts.jsonl --config knovaryn.json` would submit. */
export const demoSubmission = async (folder: DemoFolder, baseUrl: string): Promise<Submission> => ({
  projectId: 'default',
  type: 'batch',
  files: [{ name: folder.prompts, content: await readFile(folder.prompts) }],
  provider: { name: providerName, baseUrl },
  model,
  parameters: { maxOutputTokens },
  limits: { maximumCostUsd: budgetUsd },
  priceProfiles: [demoPrices],
  concurrency: callsAtOnce,
})
