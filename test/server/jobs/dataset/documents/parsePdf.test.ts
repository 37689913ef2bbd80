import { deflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { pageAt } from '../../../../../server/jobs/dataset/parsedText.ts'
import { parsePdf } from '../../../../../server/jobs/dataset/documents/parsePdf.ts'
import { madePdf, sentences } from './madeDocuments.ts'
import { expectWellBuilt, shown } from './parsedBlocks.ts'

const parsed = async (...made: Parameters<typeof madePdf>) => parsePdf(await madePdf(...made), 'a.pdf')

test('the text of each page has its paragraphs, headings by size, and rows of tables', async () => {
  const read = await parsed((pdf) => {
    pdf.fontSize(24).text('The title')
    pdf.moveDown().fontSize(12).text(sentences(6)).moveDown().text(sentences(3))
    pdf.addPage().fontSize(16).text('A section')
    pdf.fontSize(12).table({ data: [['a', 'b', 'c'], ['1', '2', '3']] })
  })
  expectWellBuilt(read)
  const [title, first, second, section, table, ...rest] = shown(read)
  expect([title, section, table, ...rest]).toEqual(['heading 1: The title', 'heading 2: A section', 'table: a | b | c\n1 | 2 | 3'])
  expect(first?.replaceAll('\n', ' ')).toBe(`paragraph: ${sentences(6)}`)
  expect(second?.replaceAll('\n', ' ')).toBe(`paragraph: ${sentences(3)}`)
  expect(pageAt(read.pages, read.text.indexOf('Sentence 5'))).toBe(1)
  expect(pageAt(read.pages, read.text.indexOf('A section'))).toBe(2)
})

test('lines in two columns are read one column after the other', async () => {
  const read = await parsed((pdf) => pdf.text(sentences(12), { columns: 2, height: 200 }))
  expect(read.text.replace(/\s+/g, ' ')).toBe(sentences(12))
})

test('a word that was divided at the end of a line is whole again, and one that has its own hyphens keeps them', async () => {
  const read = await parsed((pdf) => {
    for (const line of ['A num-', 'ber of words, a just-in-', 'time compiler, one pre-', 'War ship'] ) pdf.text(line, { lineBreak: false }).moveDown()
  })
  expect(read.text.replace(/\s+/g, ' ')).toBe('A number of words, a just-in- time compiler, one pre- War ship')
})

test('pages without text are counted and noted', async () => {
  const read = await parsed((pdf) => {
    pdf.text('one').addPage().addPage().rect(0, 0, 9, 9).fill().addPage().text('four')
  })
  expect(read.notes).toEqual(['pages 2, 3 have no text'])
  expect(read.pages.map(({ start, end }) => read.text.slice(start, end))).toEqual(['one', '', '', 'four'])
  expect(pageAt(read.pages, read.text.indexOf('four'))).toBe(4)
})

test('its properties are what it declares', async () => {
  const read = await parsed((pdf) => pdf.text('x'), { info: { Title: 'T', License: 'MIT' } as object })
  expect(read.declared).toMatchObject({ title: 'T', license: 'MIT' })
})

test('bytes that belong to others stay as they are', async () => {
  const content = Buffer.from(await madePdf((pdf) => pdf.text('x')))
  const before = Buffer.from(content)
  await parsePdf(content, 'a.pdf')
  expect(content.equals(before)).toBe(true)
})

test.each([
  ['encrypted', () => madePdf((pdf) => pdf.text('x'), { userPassword: 'u', ownerPassword: 'o' }), /^a\.pdf is encrypted: remove its password$/],
  ['a scan', () => madePdf((pdf) => pdf.rect(0, 0, 9, 9).fill().addPage().addPage()), /^a\.pdf has no text on page 1 of 3 or any other: it looks like a scan/],
  ['cut short', async () => (await madePdf((pdf) => pdf.text(sentences(9)))).subarray(0, 500), /^a\.pdf is damaged: /],
  ['garbage', async () => Buffer.from('%PDF-1.7\ngarbage'), /^a\.pdf is damaged: /],
])('a PDF that is %s is refused by name', async (_, made, says) => {
  await expect(parsePdf(await made(), 'a.pdf')).rejects.toMatchObject({ name: 'InvalidInputError', message: expect.stringMatching(says) })
})

test('a PDF with a stream that unpacks without end is refused by name, before it is unpacked', async () => {
  const packed = deflateSync(Buffer.alloc(129 * 1_048_576))
  const bomb = (filter: string, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from(`%PDF-1.7\n4 0 obj\n<</Filter ${filter}>>\nstream\n`), content, Buffer.from('\nendstream\nendobj\n')])
  const says = /^a\.pdf looks like a bomb: the stream at its byte \d+ unpacks to more than 134217728 bytes$/
  await expect(parsePdf(bomb('/FlateDecode', packed), 'a.pdf')).rejects.toThrow(says)
  await expect(parsePdf(bomb('[/FlateDecode /FlateDecode]', deflateSync(packed)), 'a.pdf')).rejects.toThrow(says)
})

test('a PDF that only its owner may change is read', async () => {
  expect((await parsed((pdf) => pdf.text('open'), { ownerPassword: 'o' })).text).toBe('open')
})
