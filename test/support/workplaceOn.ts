import { Config } from '../../server/config.ts'
import { openWorkplace } from '../../server/compose.ts'
import type { JobDefinition } from '../../server/defineJob.ts'
import type { Submission } from '../../server/engine.ts'
import type { LogLine } from '../../server/telemetry.ts'
import { eightCents, maxOutputTokens, tenCentsAtWorst } from './batchFiles.ts'
import type { Script } from './scriptedProvider/script.ts'

/** An engine of this process on a store, with what it has logged. */
export const workplaceOn = async (
  store: string,
  options: {
    providers?: Readonly<Record<string, object>>
    definitions?: readonly JobDefinition[]
    callTimeoutSeconds?: number
  } = {},
) => {
  const { providers = {}, definitions = [], callTimeoutSeconds } = options
  const logged: LogLine[] = []
  const config = Config.parse({ store, providers, ...(callTimeoutSeconds === undefined ? {} : { callTimeoutSeconds }) })
  const place = await openWorkplace(config, { env: {}, log: (line) => void logged.push(line), definitions })
  return { ...place, logged }
}

export type OpenPlace = Awaited<ReturnType<typeof workplaceOn>>

/** A batch for a scripted provider, at 0.10 a call at worst and 0.08 in fact (with `eightCents`). */
export const batchOf = (lines: string, baseUrl: string, over: Partial<Submission> = {}): Submission => ({
  projectId: 'default',
  type: 'batch',
  files: [{ name: 'prompts.jsonl', content: new TextEncoder().encode(lines) }],
  provider: { name: 'openai', baseUrl },
  model: 'scripted',
  parameters: { maxOutputTokens },
  priceProfiles: [tenCentsAtWorst],
  ...over,
})

/** Answers after so long, at eight cents. */
export const answersAfter = (delayMs: number, over: Partial<Script> = {}): Script => ({
  default: { delayMs, usage: eightCents },
  ...over,
})

/** The text of the one file a batch leaves. */
export const resultsOf = async (place: Pick<OpenPlace, 'engine'>, jobId: string): Promise<string> => {
  const parts: Uint8Array[] = []
  for await (const { content } of place.engine.output(jobId)) parts.push(content)
  return Buffer.concat(parts).toString('utf8')
}
