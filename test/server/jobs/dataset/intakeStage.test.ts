import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { InvalidInputError, PolicyBlockError } from '../../../../domain/errors.ts'
import { Interrupted } from '../../../../server/defineJob.ts'
import type { DatasetInput } from '../../../../server/jobs/dataset/datasetInput.ts'
import { inspectDocuments } from '../../../../server/jobs/dataset/inspectDocuments.ts'
import { intake } from '../../../../server/jobs/dataset/intakeStage.ts'
import { IntakeResult } from '../../../../server/jobs/dataset/stageResults.ts'
import { stageContext, stageLog, stored } from '../../../support/stageContext.ts'

type Content = string | Uint8Array
type Files = Record<string, Content>
const bytesOf = (content: Content) => (typeof content === 'string' ? new TextEncoder().encode(content) : content)

const submitted = (files: Files, parameters: Record<string, unknown> = {}) => {
  const log = stageLog()
  const given = Object.entries(files).map(([name, content]) => ({
    file: { name, content: bytesOf(content) },
    ref: stored(log, bytesOf(content)),
  }))
  const { input } = inspectDocuments(given, { model: 'small', parameters, target: null })
  return { input, log, parameters }
}
const takeIn = (files: Files, parameters: Record<string, unknown> = {}) =>
  intake(stageContext<DatasetInput>('intake', submitted(files, parameters)).context)

const refusalOf = async (work: Promise<unknown>): Promise<PolicyBlockError> => {
  const error = await work.then(
    () => new Error('nothing was refused'),
    (raised: unknown) => raised,
  )
  if (error instanceof PolicyBlockError || error instanceof InvalidInputError) return error
  throw error
}
const markdown = (declared: string, body = '# A\n\nText.\n') => `---\n${declared}\n---\n${body}`
const html = (head: string, body = '<p>Text') => `<!doctype html><html><head>${head}</head><body>${body}`

describe('documents are taken in', () => {
  test('in their order, each with its type and licence', async () => {
    const result = await takeIn(
      {
        'own.md': markdown('license: MIT'),
        'sub/page.html': html('<link rel="license" href="https://creativecommons.org/licenses/by/4.0/">'),
        'sub/deep/plain.txt': 'Text.',
        'sub/LICENSE': 'SPDX-License-Identifier: CC0-1.0',
        'outer.txt': 'Text.',
      },
      { license: 'ISC' },
    )
    expect(IntakeResult.parse(result)).toEqual(result)
    expect(result.documents).toEqual([
      { name: 'outer.txt', mediaType: 'text/plain', license: 'ISC', licenseFrom: 'parameter' },
      { name: 'own.md', mediaType: 'text/markdown', license: 'MIT', licenseFrom: 'document' },
      { name: 'sub/deep/plain.txt', mediaType: 'text/plain', license: 'CC0-1.0', licenseFrom: 'license_file' },
      {
        name: 'sub/page.html',
        mediaType: 'text/html',
        license: 'https://creativecommons.org/licenses/by/4.0/',
        licenseFrom: 'document',
      },
    ])
  })

  test('with no licence where none is declared', async () => {
    expect((await takeIn({ 'a.md': '# A' })).documents).toEqual([
      { name: 'a.md', mediaType: 'text/markdown', license: null, licenseFrom: null },
    ])
  })

  test('with the licence of the nearest folder that has one, and not of a folder beside', async () => {
    const { documents } = await takeIn({
      LICENSE: 'SPDX-License-Identifier: MIT',
      'a/LICENSE': 'SPDX-License-Identifier: ISC',
      'a.txt': 'x',
      'a/x.txt': 'x',
      'a/b/x.txt': 'x',
      'ab/x.txt': 'x',
    })
    expect(documents.map(({ name, license }) => [name, license])).toEqual([
      ['a.txt', 'MIT'],
      ['a/b/x.txt', 'ISC'],
      ['a/x.txt', 'ISC'],
      ['ab/x.txt', 'MIT'],
    ])
  })

  test('under all licence files of their folder', async () => {
    const { documents } = await takeIn({
      'a.txt': 'x',
      LICENSE: 'SPDX-License-Identifier: MIT OR ISC',
      COPYING: 'SPDX-License-Identifier: GPL-3.0-only',
      'LICENSE.md': 'SPDX-License-Identifier: GPL-3.0-only',
    })
    expect(documents[0]?.license).toBe('GPL-3.0-only AND (MIT OR ISC)')
  })

  test('though a licence above theirs is blocked, where their own is not', async () => {
    const { documents } = await takeIn(
      { 'a/x.md': markdown('license: MIT'), 'a/LICENSE': 'SPDX-License-Identifier: CC-BY-ND-4.0', 'b/y.txt': 'x', 'b/LICENSE': 'Be nice.' },
      { license: 'proprietary' },
    )
    expect(documents.map(({ licenseFrom }) => licenseFrom)).toEqual(['document', 'license_file'])
  })

  test('many at a time, with the same result', async () => {
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, nth) => [`${nth}.md`, markdown(`license: L${nth}`)]))
    const { context, progress } = stageContext<DatasetInput>('intake', { ...submitted(files), concurrency: 32 })
    expect(await intake(context)).toEqual(await takeIn(files))
    expect(progress.at(-1)).toEqual({ done: 300, total: 300, unit: 'documents' })
  })

  test('in UTF-16 and Latin-1', async () => {
    const utf16 = Buffer.from(`\uFEFF${markdown('licence: MIT')}`, 'utf16le')
    const latin1 = Buffer.from(markdown('licence: ISC', 'Größe\n'), 'latin1')
    const { documents } = await takeIn({ 'a.md': utf16, 'b.md': latin1 })
    expect(documents.map(({ license }) => license)).toEqual(['MIT', 'ISC'])
  })
})

describe('a document is blocked', () => {
  test('by the licence of its front matter', async () => {
    const error = await refusalOf(takeIn({ 'a.md': markdown('license: MIT'), 'b.md': markdown('license: CC-BY-NC-4.0') }))
    expect(error.code).toBe('policy_block')
    expect(error.message).toContain('b.md: no training data may be made under its licence "CC-BY-NC-4.0" (from its own declaration)')
    expect(error.details).toMatchObject({ document: 'b.md', rule: 'non_commercial', license: 'CC-BY-NC-4.0' })
  })

  test.each([
    '<meta name="license" content="CC BY-NC 4.0">',
    '<link rel="license" href="https://creativecommons.org/licenses/by-nc/4.0/">',
    '<meta name="dcterms.license" content="http://creativecommons.org/licenses/by-nc/3.0/">',
  ])('by the licence of its head: %s', async (head) => {
    expect((await refusalOf(takeIn({ 'a.html': html(head) }))).details).toMatchObject({ document: 'a.html', rule: 'non_commercial' })
  })

  test('by the licence file beside it', async () => {
    const license = 'Creative Commons\n\nAttribution-NoDerivatives 4.0 International'
    const error = await refusalOf(takeIn({ 'x/a.txt': 'Text', 'x/LICENSE.txt': license }))
    expect(error.message).toContain('x/a.txt: no training data may be made under its licence "CC-BY-ND-4.0" (from x/LICENSE.txt)')
  })

  test('by one of two licence files beside it', async () => {
    const files = { 'a.txt': 'Text', COPYING: 'SPDX-License-Identifier: MIT', LICENSE: 'All rights reserved.' }
    expect((await refusalOf(takeIn(files))).details.rule).toBe('proprietary')
  })

  test('by the licence that is said of all', async () => {
    const error = await refusalOf(takeIn({ 'a.txt': 'Text' }, { license: 'proprietary' }))
    expect(error.message).toContain('a.txt: no training data may be made under its licence "proprietary" (from --license)')
  })

  test.each([
    ['a.md', markdown('confidential: true')],
    ['a.md', markdown('classification: internal only')],
    ['a.html', html('<meta name="classification" content="Secret">')],
  ])('by declaring that it is confidential: %s', async (name, content) => {
    expect((await refusalOf(takeIn({ [name]: content }))).details).toMatchObject({ document: name, rule: 'confidential' })
  })

  test.each([
    ['a.txt', 'Plan\n\nSTRICTLY CONFIDENTIAL\n\nText.', 3],
    ['a.md', markdown('title: Plan\nlicense: MIT', '# Plan\n\nCONFIDENTIAL\n'), 7],
    ['a.txt', Buffer.from('\uFEFFVertraulich\nText.', 'utf16le'), 1],
  ])('by a line that marks it confidential, named by its line in the file: %s', async (name, content, line) => {
    const error = await refusalOf(takeIn({ [name]: content }))
    expect(error.message).toContain(`${name}:${line}: the document is marked confidential`)
    expect(error.details).toMatchObject({ document: name, rule: 'confidential', line })
  })

  test('before any that comes after it, whichever is read first', async () => {
    const slow = { 'a.txt': `${'Text.\n'.repeat(200_000)}Confidential`, 'b.md': markdown('license: none'), 'c.txt': 'CONFIDENTIAL' }
    expect((await refusalOf(takeIn(slow))).details.document).toBe('a.txt')
  })
})

describe('an input that did not come through inspection is refused', () => {
  const tampered = async (change: (input: DatasetInput) => DatasetInput) => {
    const { input, ...rest } = submitted({ 'a.txt': 'Text', 'b.txt': 'More' })
    return refusalOf(intake(stageContext<DatasetInput>('intake', { ...rest, input: change(input) }).context))
  }
  const withOriginal = (original: Partial<DatasetInput['documents'][number]['original']>) => (input: DatasetInput) => ({
    ...input,
    documents: input.documents.map((each, nth) => (nth === 1 ? { ...each, original: { ...each.original, ...original } } : each)),
  })

  test('where a size is not that of the stored bytes', async () => {
    expect((await tampered(withOriginal({ bytes: 5 }))).message).toBe('b.txt has 4 bytes, not 5 as submitted')
  })

  test('where a type is not that of the content', async () => {
    const error = await tampered(withOriginal({ mediaType: 'application/pdf' }))
    expect(error.message).toBe('b.txt is text/plain by its content, not application/pdf as submitted')
  })

  test('where stored bytes are others than their hash says', async () => {
    const { input, log, parameters } = submitted({ 'a.txt': 'Text' })
    log.artifacts.set(input.documents[0]?.original.sha256 ?? '', bytesOf('Test'))
    const error = await refusalOf(intake(stageContext<DatasetInput>('intake', { input, log, parameters }).context))
    expect(error.message).toMatch(/^a\.txt has the SHA-256 [0-9a-f]{64}, not [0-9a-f]{64} as submitted$/)
  })
})

describe('intake', () => {
  test('lets an interruption pass, though a document before it is blocked', async () => {
    const { context } = stageContext<DatasetInput>('intake', submitted({ 'a.txt': 'CONFIDENTIAL', 'b.txt': 'Text' }))
    const stopping = {
      ...context,
      getArtifact: async (ref: Parameters<typeof context.getArtifact>[0]) => {
        if (ref.bytes === 4) throw new Interrupted()
        return context.getArtifact(ref)
      },
    }
    await expect(intake(stopping)).rejects.toThrow(Interrupted)
  })

  test('holds no more than some documents at a time', async () => {
    const content = new Uint8Array(24 * 1_048_576).fill(120)
    const files = Object.fromEntries(Array.from({ length: 6 }, (_, nth) => [`${nth}.txt`, content]))
    const { context } = stageContext<DatasetInput>('intake', { ...submitted(files), concurrency: 100 })
    const groups: number[] = []
    await intake({
      ...context,
      each: async (items, work) => {
        groups.push(items.length)
        await context.each(items, work)
      },
    })
    expect(groups).toEqual([2, 2, 2])
  })

  test('takes in what people have written', async () => {
    const readme = readFileSync(new URL('../../../../README.md', import.meta.url))
    const license = readFileSync(new URL('../../../../LICENSE', import.meta.url))
    expect((await takeIn({ 'README.md': readme, LICENSE: license })).documents).toEqual([
      { name: 'README.md', mediaType: 'text/markdown', license: 'Apache-2.0', licenseFrom: 'license_file' },
    ])
  })
})
