import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Submission } from '../../server/engine.ts'
import { maxOutputTokens, tenCentsAtWorst } from './batchFiles.ts'

export const gatedJobModule = fileURLToPath(new URL('./processesGatedJob.mjs', import.meta.url))

/** Holds a step of the gated job, and lets it go. */
export const holdStep = (folder: string, step: string): Promise<void> => writeFile(join(folder, `${step}.hold`), '')
export const letGo = (folder: string, step: string): Promise<void> => rm(join(folder, `${step}.hold`), { force: true })

/** One of the jobs of `processesGatedJob.mjs`. */
export const gatedJob = (
  input: { folder: string; calls: number; checkpointBytes?: number },
  baseUrl: string,
  over: Partial<Submission> = {},
): Submission => ({
  projectId: 'default',
  type: 'gated',
  files: [],
  input: { checkpointBytes: 0, ...input },
  provider: { name: 'openai', baseUrl },
  model: 'scripted',
  parameters: { maxOutputTokens },
  priceProfiles: [tenCentsAtWorst],
  ...over,
})
