import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { workplaceOn } from '../../../support/workplaceOn.ts'

/** Documents that other people wrote, as the packages installed here bring them along: at least one of each format. */
const files = [
  'zod/README.md',
  'commander/Readme.md',
  'yaml/README.md',
  'typescript/NOTICE.txt',
  'tiny-inflate/test/lorem.txt',
  'sprintf-js/demo/angular.html',
  'pdf-parse/test/data/01-valid.pdf',
  'pdf-parse/test/data/04-valid.pdf',
  'mammoth/test/test-data/tables.docx',
  'mammoth/test/test-data/footnotes.docx',
  'mammoth/test/test-data/single-paragraph.docx',
].map((path) => ({ path, file: fileURLToPath(new URL(`../../../../node_modules/${path}`, import.meta.url)) }))

test('every example of foreign documents quotes its source, letter for letter, and every line left out names a slice of it', async () => {
  const place = await workplaceOn('memory:')
  const { jobId } = await place.engine.submit({
    type: 'dataset',
    files: files.map(({ path, file }) => ({ name: path, content: readFileSync(file) })),
    provider: { name: 'offline' },
    model: 'offline-small',
    parameters: { chunkTokens: 200 },
    limits: { maximumExamples: null },
    concurrency: 32,
  })
  await place.work({ only: jobId })
  const job = await place.engine.status(jobId)
  expect(job, job.errorSummary ?? '').toMatchObject({ state: 'succeeded' })
  const exported = new Map<string, string>()
  for await (const { path, content } of place.engine.output(jobId)) exported.set(path, Buffer.from(content).toString('utf8'))
  await place.close()

  const linesIn = (path: string) => exported.get(path)!.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line))
  const examples = [...linesIn('train.jsonl'), ...linesIn('test.jsonl')]
  const formats = new Set(examples.map(({ document }) => basename(document).split('.').at(-1)))
  expect(formats).toEqual(new Set(['md', 'txt', 'html', 'pdf', 'docx']))
  for (const { sourceSpan, quote, example } of [...examples, ...linesIn('quarantine.jsonl')]) {
    const slice = exported.get(`sources/${sourceSpan.text}.txt`)!.slice(sourceSpan.start, sourceSpan.end)
    expect(slice).not.toBe('')
    if (quote !== undefined) expect(slice).toBe(quote)
    if (example?.quote !== undefined) expect(slice.length).toBeGreaterThan(0)
  }
})
