import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Interrupted } from '../../../../../server/defineJob.ts'
import { mediaTypes } from '../../../../../server/jobs/dataset/datasetInput.ts'
import { parseApart, type ParseApart } from '../../../../../server/jobs/dataset/documents/parseApart.ts'
import { readDocument } from '../../../../../server/jobs/dataset/documents/readDocument.ts'
import { madeDocx, madePdf } from './madeDocuments.ts'

const source = fileURLToPath(new URL('../../../../../server/jobs/dataset/documents/parseWorker.ts', import.meta.url))

let folder: string
let program: URL
/** Joined as the build joins it: a thread cannot load TypeScript. */
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'parse-thread-'))
  const build = await rolldown({ input: { parseWorker: source }, platform: 'node', logLevel: 'warn' })
  await build.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' })
  await build.close()
  program = pathToFileURL(join(folder, 'parseWorker.mjs'))
})
afterAll(() => rmSync(folder, { recursive: true }))

let ending: AbortController
let apart: ParseApart
const started = (limits = { secondsMax: 60, memoryMbMax: 512 }, threads = 1): ParseApart => {
  apart = parseApart({ threads, signal: ending.signal, program, limits })
  return apart
}
beforeEach(() => {
  ending = new AbortController()
})
afterEach(() => apart.close())

const html = (text: string) => document(mediaTypes.html, Buffer.from(`<!doctype html>${text}`))
const document = (type: (typeof mediaTypes)[keyof typeof mediaTypes], content: Uint8Array, name = 'a') => ({
  type,
  name,
  bytes: content.byteLength,
  load: async () => content,
})

describe('a document that is read in a thread', () => {
  test.each([
    ['HTML', async () => html('<h1>a</h1><p>b')],
    ['a PDF', async () => document(mediaTypes.pdf, await madePdf((pdf) => pdf.text('words')))],
    ['a docx', async () => document(mediaTypes.docx, await madeDocx({ heading: 'a', paragraphs: ['b'] }))],
    ['Markdown', async () => document(mediaTypes.markdown, Buffer.from('# a\n\nwords of it\n\n'.repeat(1_000)))],
  ])('is as it is where it is asked for: %s', async (_, made) => {
    const given = await made()
    expect(await started().read(given)).toEqual(await readDocument({ ...given, content: await given.load() }))
  })

  test('is refused as it is there', async () => {
    const scan = document(mediaTypes.pdf, await madePdf((pdf) => pdf.rect(0, 0, 9, 9).fill()), 'scan.pdf')
    const refusal = { name: 'InvalidInputError', message: expect.stringMatching(/^scan\.pdf has no text on page 1 of 1/) }
    await expect(started().read(scan)).rejects.toMatchObject({ ...refusal, details: { document: 'scan.pdf', page: 1, pages: 1 } })
  })

  test('that takes too long is given up by name, and the next one is read', async () => {
    // A thread takes longer to start.
    const { read } = started({ secondsMax: 0.001, memoryMbMax: 512 })
    await expect(read(html('x'))).rejects.toMatchObject({ name: 'InvalidInputError', message: 'a is not read within 0.001 seconds' })
    expect(await read(document(mediaTypes.text, Buffer.from('x')))).toMatchObject({ text: 'x' })
  })

  test('that takes too much memory is given up by name, and the next one is read', async () => {
    const { read } = started({ secondsMax: 60, memoryMbMax: 24 })
    await expect(read(html('<p>a'.repeat(400_000)))).rejects.toMatchObject({
      name: 'InvalidInputError',
      message: 'a is not read within 24 MB of memory',
    })
    expect(await read(html('<p>b'))).toMatchObject({ text: 'b' })
  })

  test('is given up when the job is to stop', async () => {
    const { read } = started()
    const reading = [html('<p>a'.repeat(500_000)), html('x'), html('y')].map((each) => read(each))
    setImmediate(() => ending.abort())
    for (const each of reading) await expect(each).rejects.toBeInstanceOf(Interrupted)
  })

  test('leaves its thread to the next one, and no more are read at once than there are threads', async () => {
    const { read } = started(undefined, 2)
    let loading = 0
    let loadingMax = 0
    const slow = {
      ...html('<p>a'),
      load: async () => {
        loading += 1
        loadingMax = Math.max(loadingMax, loading)
        await new Promise((resolve) => setImmediate(resolve))
        loading -= 1
        return html('<p>a').load()
      },
    }
    expect(await Promise.all(Array.from({ length: 9 }, () => read(slow)))).toHaveLength(9)
    expect(loadingMax).toBe(2)
  })
})
