import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { Interrupted } from '../../../../../server/defineJob.ts'
import { mediaTypes, type DatasetInput, type DocumentType } from '../../../../../server/jobs/dataset/datasetInput.ts'
import { Structure } from '../../../../../server/jobs/dataset/parsedText.ts'
import { parse, ParsedCheckpoint } from '../../../../../server/jobs/dataset/documents/parseStage.ts'
import { ParseResult, type IntakeResult, type ParsedDocument } from '../../../../../server/jobs/dataset/stageResults.ts'
import { stageContext, stageLog, stored, type StageLog } from '../../../../support/stageContext.ts'
import { madePdf } from './madeDocuments.ts'

type Taken = IntakeResult['documents'][number]
type Given = { readonly name: string; readonly content: string | Uint8Array; readonly type?: DocumentType } & Partial<Pick<Taken, 'license' | 'licenseFrom'>>

const given = (documents: readonly Given[], log: StageLog = stageLog()) => {
  const taken = documents.map(({ name, type = mediaTypes.markdown, license = null, licenseFrom = null }) => ({
    name,
    mediaType: type,
    license,
    licenseFrom,
  }))
  const input: DatasetInput = {
    documents: documents.map(({ name, content, type = mediaTypes.markdown }) => {
      const { sha256, bytes } = stored(log, Buffer.from(content))
      return { name, original: { sha256, bytes, mediaType: type } }
    }),
    licenseFiles: [],
  }
  log.results.set('intake', { documents: taken } satisfies IntakeResult)
  return { log, ...stageContext<DatasetInput, ParsedDocument>('parse', { input, log }) }
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

describe('the parse stage', () => {
  test('stores each document as text with its structure, in the order of the input', async () => {
    const pdf = await madePdf((page) => page.text('one').addPage().text('two'))
    const { context, log, progress } = given([
      { name: 'a.md', content: '# é\r\n\r\nwords' },
      { name: 'b.pdf', content: pdf, type: mediaTypes.pdf },
    ])
    const result = ParseResult.parse(await parse(context))
    const text = '# é\n\nwords'
    expect(result.documents.map(({ name }) => name)).toEqual(['a.md', 'b.pdf'])
    expect(result.documents[0]).toMatchObject({
      license: null,
      text: { sha256: sha256(text), bytes: 11, mediaType: 'text/plain' },
      structure: { mediaType: 'application/json' },
      characters: 10,
      pages: 0,
      notes: [],
    })
    expect(result.documents[1]).toMatchObject({ source: createHash('sha256').update(pdf).digest('hex'), pages: 2 })
    const structure = Structure.parse(JSON.parse(Buffer.from(log.artifacts.get(result.documents[0]!.structure.sha256)!).toString()))
    expect(structure).toEqual({
      blocks: [
        { kind: 'heading', level: 1, start: 0, end: 3 },
        { kind: 'paragraph', start: 5, end: 10 },
      ],
      pages: [],
    })
    expect(progress.at(-1)).toEqual({ done: 2, total: 2, unit: 'documents' })
  })

  test('reads no document again that has its checkpoint', async () => {
    const { context, log } = given([{ name: 'a.md', content: 'a' }, { name: 'b.md', content: 'b' }])
    const first = await parse(context)
    for (const value of log.checkpoints.values()) ParsedCheckpoint.parse(value)
    expect(log.checkpoints.size).toBe(2)
    log.artifacts.clear()
    expect(await parse(context)).toEqual(first)
  })

  test('tells what was guessed or left out', async () => {
    const { context } = given([{ name: 'a.txt', content: Buffer.from('caf\xe9', 'latin1'), type: mediaTypes.text }])
    const said: string[] = []
    const result = await parse({ ...context, log: async (level, message) => void said.push(`${level}: ${message}`) })
    expect(said).toEqual(['warn: a.txt: it is not UTF-8: read as windows-1252'])
    expect(result.documents[0]?.notes).toEqual(['it is not UTF-8: read as windows-1252'])
  })

  test('names the first bad document, in order, of several', async () => {
    const blank = { content: ' ', type: mediaTypes.text } as const
    const { context } = given([{ name: 'good.md', content: 'x' }, { name: 'b.txt', ...blank }, { name: 'c.txt', ...blank }])
    await expect(parse(context)).rejects.toMatchObject({ name: 'InvalidInputError', message: 'b.txt has no text' })
  })

  test('refuses a document whose text marks it as confidential', async () => {
    const { context } = given([{ name: 'a.md', content: 'CONFIDENTIAL\n\nwords' }])
    await expect(parse(context)).rejects.toMatchObject({ code: 'policy_block', message: expect.stringMatching(/^a\.md:1: /) })
  })

  test('lets what stops the job pass', async () => {
    const { context } = given([{ name: 'a.md', content: 'x' }])
    await expect(parse({ ...context, checkpoint: () => Promise.reject(new Interrupted()) })).rejects.toBeInstanceOf(Interrupted)
  })

  const licensed = (license: string) => madePdf((pdf) => pdf.text('x'), { info: { License: license } as object })
  test.each([
    ['is what it declares itself', {}, 'MIT'],
    ['goes before that of its folder', { license: 'Apache-2.0', licenseFrom: 'license_file' }, 'MIT'],
    ['goes before that of all', { license: 'Apache-2.0', licenseFrom: 'parameter' }, 'MIT'],
    ['that intake found in it stays', { license: 'ISC', licenseFrom: 'document' }, 'ISC'],
  ] as const)('the licence of a document %s', async (_, taken, license) => {
    const { context } = given([{ name: 'a.pdf', content: await licensed('MIT'), type: mediaTypes.pdf, ...taken }])
    expect((await parse(context)).documents[0]?.license).toBe(license)
  })

  test('refuses a document that declares a blocked licence only inside', async () => {
    const { context } = given([{ name: 'a.pdf', content: await licensed('CC-BY-NC-4.0'), type: mediaTypes.pdf }])
    await expect(parse(context)).rejects.toMatchObject({ code: 'policy_block', message: expect.stringMatching(/^a\.pdf: /) })
  })
})
