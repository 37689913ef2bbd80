import { beforeEach, describe, expect, test } from 'vitest'
import { InvalidInputError, PolicyBlockError } from '../../../../domain/errors.ts'
import { chunk, type DocumentChunks } from '../../../../server/jobs/dataset/chunkStage.ts'
import { mediaTypes, type DatasetInput } from '../../../../server/jobs/dataset/datasetInput.ts'
import { parseDocument } from '../../../../server/jobs/dataset/documents/parseDocument.ts'
import { textOf } from '../../../../server/jobs/dataset/documentTexts.ts'
import type { ParsedDocument } from '../../../../server/jobs/dataset/stageResults.ts'
import { stageContext, stageLog, stored, type StageLog } from '../../../support/stageContext.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

let log: StageLog
beforeEach(() => void (log = stageLog()))

const harbour = 'The harbour master opens the gate two hours before high water, and closes it again before the ebb has set in.'
const quay = 'Boats of more than twelve metres lie along the outer quay, where the water is deep enough at every state of the tide.'
const email = 'jane.roe@harbour-office.org'
const writeTo = `Whoever wants a berth for the winter writes to ${email} before the end of August.`

/** A chunk stage over these documents, parsed. */
const over = async (documents: Readonly<Record<string, string>>, parameters: object = {}) => {
  const parsed: ParsedDocument[] = []
  for (const [name, content] of Object.entries(documents)) {
    const type = name.endsWith('.md') ? mediaTypes.markdown : mediaTypes.text
    const { text, blocks, pages, notes } = await parseDocument(type, name, bytes(content))
    parsed.push({
      ...{ name, mediaType: type, license: null, source: stored(log, bytes(content), type).sha256 },
      text: stored(log, bytes(text), 'text/plain'),
      structure: stored(log, bytes(JSON.stringify({ blocks, pages })), 'application/json'),
      ...{ characters: text.length, pages: 0, notes: [...notes] },
    })
  }
  log.results.set('parse', { documents: parsed })
  const input: DatasetInput = { documents: [], licenseFiles: [] }
  const { context } = stageContext<DatasetInput, DocumentChunks>('chunk', { input, log, parameters: { ...parameters } })
  const warned: string[] = []
  return { context: { ...context, log: async (_: string, message: string) => void warned.push(message) }, warned }
}

const run = async (...given: Parameters<typeof over>) => {
  const { context, warned } = await over(...given)
  const result = await chunk(context)
  log.results.set('chunk', result)
  const slices = await Promise.all(
    result.chunks.map(async ({ document, start, end }) => (await textOf(context, document)).text.slice(start, end)),
  )
  return { ...result, context, warned, slices }
}

describe('the chunk stage', () => {
  test('makes chunks of all documents, named by document and place', async () => {
    const { chunks, slices, quarantined, texts } = await run({ 'a.txt': harbour, 'b.md': `# Berths\n\n${quay}` })
    expect(chunks).toMatchObject([
      { id: '0-0', document: 0, headings: [] },
      { id: '1-0', document: 1, headings: ['Berths'] },
    ])
    expect(slices).toEqual([harbour, `# Berths\n\n${quay}`])
    expect({ quarantined, texts }).toEqual({ quarantined: [], texts: [] })
  })

  test('leaves out the sentence that holds personal data, and masks it for all that comes after', async () => {
    const { quarantined, slices, context } = await run({ 'a.txt': `${harbour} ${writeTo} ${quay}` })
    expect(slices).toEqual([harbour, quay])
    const { text, textRef } = await textOf(context, 0)
    expect(text).toBe(`${harbour} ${writeTo.replace(email, '█'.repeat(email.length))} ${quay}`)
    const start = harbour.length + 1
    expect(quarantined).toEqual([
      {
        ...{ stage: 'chunk', reason: 'personal_data', detail: 'it has an e-mail address in line 1 of its text', document: 'a.txt' },
        sourceSpan: { source: expect.any(String), text: textRef.sha256, start, end: start + writeTo.length },
      },
    ])
    expect(JSON.stringify([...log.checkpoints.values()])).not.toContain(email)
  })

  test('fails the job where personal data is blocked, naming document and line, and not the data', async () => {
    const { context } = await over({ 'a.txt': harbour, 'b.txt': `${quay}\n\n${writeTo}` }, { privacy: 'block' })
    const failure = await chunk(context).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(PolicyBlockError)
    expect(failure).toMatchObject({ code: 'policy_block', message: 'b.txt has an e-mail address in line 3 of its text, and privacy is "block"' })
  })

  test('leaves everything in where personal data is allowed', async () => {
    const { slices, texts } = await run({ 'a.txt': writeTo }, { privacy: 'allow' })
    expect({ slices, texts }).toEqual({ slices: [writeTo], texts: [] })
  })

  test('warns of a document that nothing can be asked about', async () => {
    const { chunks, warned } = await run({ 'a.txt': harbour, 'b.txt': 'Closed.', 'c.txt': writeTo })
    expect(chunks.map(({ document }) => document)).toEqual([0])
    expect(warned).toEqual([expect.stringMatching(/^left out of the dataset: b\.txt: no passage .* 20 tokens.*; c\.txt: all of it stands beside personal data$/)])
  })

  test('fails where no document can be asked about, and says why', async () => {
    const { context } = await over({ 'a.txt': 'Closed.', 'b.txt': '| 1 | 2 | 3 |\n'.repeat(30) })
    await expect(chunk(context)).rejects.toThrow(InvalidInputError)
    await expect(chunk(context)).rejects.toThrow(/^nothing can be asked about any document: a\.txt: .*; b\.txt: /)
  })

  test('takes a document with a checkpoint as it was cut', async () => {
    const first = await run({ 'a.txt': `${harbour} ${writeTo} ${quay}` })
    log.artifacts.clear()
    const { context } = stageContext<DatasetInput, DocumentChunks>('chunk', { input: first.context.input, log })
    expect(await chunk(context)).toEqual({ chunks: first.chunks, quarantined: first.quarantined, texts: first.texts })
  })
})
