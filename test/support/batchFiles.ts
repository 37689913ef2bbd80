import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../contract/temporaryFolder.ts'
import type { PriceProfile } from '../../domain/pricing.ts'

/** Lines of a batch whose prompts differ in their number alone. */
export const batchLines = (count: number, say = 'Tell me about'): string =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify({ id: `line-${String(index).padStart(5, '0')}`, prompt: `${say} number ${index}.` }),
  ).join('\n')

/** Prices by which 100 output tokens at most and 80 in fact make a worst case of 0.10 and a cost of 0.08. */
export const tenCentsAtWorst: PriceProfile = {
  id: 'ten-cents-at-worst',
  effectiveFrom: '2020-01-01',
  provider: 'openai',
  models: { scripted: { inputPerMTok: '0', cachedInputPerMTok: '0', outputPerMTok: '1000' } },
}
export const maxOutputTokens = 100
export const eightCents = { prompt_tokens: 10, completion_tokens: 80 }

/** A folder with everything that a batch against a scripted provider needs on the command line. */
export const batchFolder = async (lines: string, providers: Readonly<Record<string, object>> = {}) => {
  const folder = await temporaryFolder()
  const at = (name: string): string => join(folder.path, name)
  await writeFile(at('prompts.jsonl'), lines)
  await writeFile(at('prices.json'), JSON.stringify(tenCentsAtWorst))
  await writeFile(at('config.json'), JSON.stringify({ providers }))
  const store = ['--store', `sqlite:${at('store')}`, '--config', at('config.json')]
  return {
    ...folder,
    at,
    store,
    /** Of `run` and `submit`. */
    batch: [
      at('prompts.jsonl'),
      ...['--provider', 'openai', '--model', 'scripted'],
      ...['--max-output-tokens', String(maxOutputTokens), '--price-profile', at('prices.json')],
      ...store,
    ],
  }
}

export type BatchFolder = Awaited<ReturnType<typeof batchFolder>>
