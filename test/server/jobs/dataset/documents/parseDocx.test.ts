import { expect, test } from 'vitest'
import { parseDocx } from '../../../../../server/jobs/dataset/documents/parseDocx.ts'
import { madeDocx } from './madeDocuments.ts'
import { madeZip } from './madeZip.ts'
import { expectWellBuilt, shown } from './parsedBlocks.ts'

test('headings, lists and tables are blocks; headers come first, footers last', async () => {
  const content = await madeDocx({
    heading: 'The title',
    paragraphs: ['One & <two>.'],
    items: ['a', 'b'],
    rows: [['x', 'y'], ['1', '2']],
    header: 'Confidential & <new>',
    footer: 'The end',
    image: true,
    title: 'R&D <of> us',
    properties: { License: 'MIT', Owner: 'me & you' },
  })
  const read = await parseDocx(content, 'a.docx')
  expectWellBuilt(read)
  expect(shown(read)).toEqual([
    'paragraph: Confidential & <new>',
    'heading 1: The title',
    'paragraph: One & <two>.',
    'list: - a\n- b',
    'table: x | y\n1 | 2',
    'paragraph: The end',
  ])
  expect(read.declared).toMatchObject({ title: 'R&D <of> us', license: 'MIT', owner: 'me & you' })
  expect(read.notes).toContain('its images and media are left out (1)')
})

const zeros = new Uint8Array(15 * 1_048_576)
const document = { name: 'word/document.xml', content: '<w:document/>' }

test.each([
  ['cut short', async () => (await madeDocx({ paragraphs: ['x'] })).subarray(0, -100), /^a\.docx is damaged: /],
  ['overwritten in its middle', async () => (await madeDocx({ paragraphs: ['x'] })).fill(7, 300, 1_500), /^a\.docx is damaged: /],
  ['without its text', async () => madeZip([{ name: 'x', content: 'x' }]), /^a\.docx is damaged: it has no word\/document\.xml$/],
  ['not XML inside', async () => madeZip([{ ...document, content: 'words' }]), /^a\.docx is damaged: /],
  ['encrypted part by part', async () => madeZip([{ ...document, encrypted: true }]), /^a\.docx is encrypted: remove its password$/],
  ['a bomb in one part', async () => madeZip([document, { name: 'x', content: new Uint8Array(20 * 1_048_576) }]), /zip bomb: its part x unpacks to more than 300 times/],
  ['a bomb that claims to be small', async () => madeZip([document, { name: 'x', content: zeros, claims: 9 }]), /^a\.docx is damaged: /],
  ['a bomb of many parts', async () => madeZip([document, ...Array.from({ length: 18 }, (_, nth) => ({ name: `${nth}`, content: zeros }))]), /zip bomb: it unpacks to more than 268435456 bytes/],
  ['a bomb of names', async () => madeZip(Array.from({ length: 10_001 }, (_, nth) => ({ name: `${nth}`, content: '' }))), /zip bomb: it has 10001 parts/],
])('a docx that is %s is refused by name', async (_, made, says) => {
  await expect(parseDocx(await made(), 'a.docx')).rejects.toMatchObject({ name: 'InvalidInputError', message: expect.stringMatching(says) })
})
