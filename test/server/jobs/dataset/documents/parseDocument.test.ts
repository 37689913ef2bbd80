import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { array, assert, asyncProperty, constantFrom, string } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mediaTypes, type DocumentType } from '../../../../../server/jobs/dataset/datasetInput.ts'
import type { ParsedText } from '../../../../../server/jobs/dataset/parsedText.ts'
import { documentTypeOf } from '../../../../../server/jobs/dataset/documents/documentType.ts'
import { parseDocument } from '../../../../../server/jobs/dataset/documents/parseDocument.ts'
import { madeDocx, madePdf } from './madeDocuments.ts'
import { expectWellBuilt } from './parsedBlocks.ts'

const modules = fileURLToPath(new URL('../../../../../node_modules', import.meta.url))

/** Pieces that mean something in one format or another, and some that mean nothing. */
const pieces = constantFrom(
  ...['word', 'two words', ' ', '  ', '\n', '\n\n', '\r\n', '\t', '# ', '## ', '- ', '1. ', '> ', '```\n', '~~~', '---\n', '***', '| a | b |\n', '|---|---|\n'],
  ...['    ', '[a]: b\n', '<p>', '</p>', '<div>', '</div>', '<table>', '<tr>', '<td>', '</table>', '<ul>', '<li>', '</ul>', '<pre>', '</pre>', '<h1>', '</h1>'],
  ...['<!--', '-->', '<script>', '</script>', '<b', '&amp;', '&#0;', '&', '<', '>', '"', "'", '😀', '\ud800', 'é', '\u00a0', '\u2028', '\f', '\v', '\x01'],
)
const texts = array(string({ unit: pieces, maxLength: 60 }), { maxLength: 3 }).map((parts) => parts.join('\n\n'))

const contentOf: Readonly<Record<DocumentType, (text: string) => Uint8Array | Promise<Uint8Array>>> = {
  'text/plain': (text) => Buffer.from(text),
  'text/markdown': (text) => Buffer.from(text),
  'text/html': (text) => Buffer.from(text),
  'application/pdf': (text) => madePdf((pdf) => pdf.text(text).addPage().text(text, { columns: 2 })),
  [mediaTypes.docx]: (text: string) => madeDocx({ paragraphs: [text], items: [text], rows: [[text, text]] }),
}

/** Null where the document is refused by name, as one without text is. */
const parsed = async (type: DocumentType, content: Uint8Array): Promise<ParsedText | null> => {
  try {
    return await parseDocument(type, 'a', content)
  } catch (error) {
    expect(error).toMatchObject({ name: 'InvalidInputError', message: expect.stringMatching(/^a /) })
    return null
  }
}

describe.each(Object.entries(mediaTypes))('%s', (_, type) => {
  const numRuns = type === mediaTypes.pdf || type === mediaTypes.docx ? 12 : 250

  test('is read as blocks that are slices of its text, in order, with nothing but white space between', async () => {
    await assert(
      asyncProperty(texts, async (text) => {
        const read = await parsed(type, await contentOf[type](text))
        if (read !== null) expectWellBuilt(read)
      }),
      { numRuns, seed: 1 },
    )
  })

  test('is read as the same every time', async () => {
    const content = await contentOf[type]('# a\n\nwords <b>of</b> it')
    expect(await parsed(type, content)).toEqual(await parsed(type, content))
  })

  test('without a word is refused by name', async () => {
    const content = await contentOf[type](' \n ')
    await expect(parseDocument(type, 'blank', content)).rejects.toThrow(/^blank has no text/)
  })
})

/** Files that other people wrote: what the packages installed here bring along. */
const foreign = (folder: string, end: RegExp): readonly string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && end.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()

describe('documents that others wrote', () => {
  test.each([
    ['Markdown', /^(?:readme|changelog|history)\.md$/i, ['zod', 'vite', 'commander', 'yauzl', 'mammoth', 'immer', 'fast-check', 'yaml']],
    ['plain text', /^(?:license|licence|notice)(?:\.txt)?$/i, ['typescript', 'zod', 'vite', 'pdfkit', 'rolldown', 'better-sqlite3']],
    ['docx', /\.docx$/, ['mammoth']],
    ['HTML', /\.html$/, ['sprintf-js']],
    ['PDF', /0[1245].*\.pdf$/, ['pdf-parse']],
  ])('in %s are read whole', async (_, end, packages) => {
    const paths = packages.flatMap((name) => foreign(join(modules, name), end))
    expect(paths).not.toEqual([])
    for (const path of paths) {
      const content = readFileSync(path)
      const read = await parsed(documentTypeOf(path, content), content)
      if (read === null) expect(path).toMatch(/(?:empty|picture)[\w-]*\.docx$/)
      else expectWellBuilt(read)
    }
  })

  test('a PDF of them that is damaged is named so', async () => {
    const content = readFileSync(join(modules, 'pdf-parse/test/data/03-invalid.pdf'))
    await expect(parseDocument('application/pdf', 'a.pdf', content)).rejects.toMatchObject({
      name: 'InvalidInputError',
      message: expect.stringMatching(/^a\.pdf is damaged: /),
    })
  })
})
