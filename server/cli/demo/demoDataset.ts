import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'

const Example = z.object({
  id: z.string(),
  document: z.string(),
  messages: z.tuple([z.object({ content: z.string() }), z.object({ content: z.string() })]),
  quote: z.string(),
  sourceSpan: z.object({ text: z.string(), start: z.int(), end: z.int(), page: z.int().optional() }),
})
export type DemoExample = z.infer<typeof Example>

/** A dataset as anybody finds it in a folder, read without the engine. Empty where there is none. */
export type DemoDataset = {
  readonly folder: string
  readonly examples: readonly DemoExample[]
  /** Parsed texts by their hash. */
  readonly sources: ReadonlyMap<string, string>
  /** What `SHA256SUMS` names, with the hash of what is there. */
  readonly files: readonly { readonly path: string; readonly sha256: string; readonly found: string | null }[]
}

export const readDataset = async (folder: string): Promise<DemoDataset> => {
  const content = (path: string): Promise<Buffer | null> => readFile(join(folder, path)).catch(() => null)
  const sums = (await content('SHA256SUMS'))?.toString('utf8') ?? ''
  const listed = [...sums.matchAll(/^([0-9a-f]{64}) [ *](.+)$/gm)].map(([, sha256 = '', path = '']) => ({ sha256, path }))
  const read = await Promise.all(listed.map(async (file) => ({ ...file, bytes: await content(file.path) })))
  const text = (path: string): string => read.find((file) => file.path === path)?.bytes?.toString('utf8') ?? ''
  const lines = `${text('train.jsonl')}${text('test.jsonl')}`.split('\n').filter((line) => line !== '')
  return {
    folder,
    examples: lines.map((line) => Example.parse(JSON.parse(line))),
    sources: new Map(
      read
        .filter(({ path }) => path.startsWith('sources/'))
        .map(({ path, bytes }) => [basename(path, '.txt'), bytes?.toString('utf8') ?? '']),
    ),
    files: read.map(({ path, sha256, bytes }) => ({ path, sha256, found: bytes === null ? null : hashOf(bytes) })),
  }
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')
