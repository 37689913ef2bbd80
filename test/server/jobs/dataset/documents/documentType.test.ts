import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { InvalidInputError } from '../../../../../domain/errors.ts'
import { documentTypeOf } from '../../../../../server/jobs/dataset/documents/documentType.ts'
import { mediaTypes } from '../../../../../server/jobs/dataset/datasetInput.ts'
import { madeDocx, madePdf } from './madeDocuments.ts'
import { madeZip } from './madeZip.ts'

const bytes = (text: string, encoding: BufferEncoding = 'utf8'): Uint8Array => new Uint8Array(Buffer.from(text, encoding))
const tar = (): Uint8Array => {
  const content = Buffer.alloc(512)
  content.write('ustar', 257)
  return content
}

describe('the type of a document', () => {
  test('is that of its content, whatever its name says', async () => {
    expect(documentTypeOf('a.txt', await madePdf((pdf) => pdf.text('x')))).toBe(mediaTypes.pdf)
    expect(documentTypeOf('a.zip', await madeDocx({ paragraphs: ['x'] }))).toBe(mediaTypes.docx)
    expect(documentTypeOf('a.md', bytes('\ufeff<!-- x -->\n<!DOCTYPE html><p>x'))).toBe(mediaTypes.html)
    expect(documentTypeOf('a.pdf', bytes('words'))).toBe(mediaTypes.text)
  })

  test.each([
    ['notes.md', '# x', mediaTypes.markdown],
    ['NOTES.MARKDOWN', '# x', mediaTypes.markdown],
    ['notes.txt', '# x', mediaTypes.text],
    ['notes', '# x', mediaTypes.text],
    ['readme.md', '<div align="center">x</div>', mediaTypes.markdown],
    ['part.html', '<div>x</div>', mediaTypes.html],
    ['part.txt', '<div>x</div>', mediaTypes.text],
    ['about.md', 'A PDF begins with %PDF-1.7.', mediaTypes.markdown],
    ['mail.pdf', 'x-header: 1\n\n%PDF-1.7\n', mediaTypes.pdf],
  ])('of text is told by the name where the content does not: %s %j', (name, text, type) => {
    expect(documentTypeOf(name, bytes(text))).toBe(type)
  })

  test('of text in UTF-16 is that of the text', () => {
    expect(documentTypeOf('a.md', bytes('\ufeffwords of it', 'utf16le'))).toBe(mediaTypes.markdown)
    expect(documentTypeOf('a', bytes('\ufeff<html><p>words', 'utf16le'))).toBe(mediaTypes.html)
    expect(documentTypeOf('a.txt', bytes('no mark at all', 'utf16le'))).toBe(mediaTypes.text)
  })

  test('of a docx cut short is still docx, so that it is called damaged and not an archive', async () => {
    const whole = await madeDocx({ paragraphs: ['x'] })
    expect(documentTypeOf('a.docx', whole.subarray(0, whole.length - 100))).toBe(mediaTypes.docx)
  })

  const png = 'iVBORw0KGgoAAAANSUhEUgAAAAE='
  test.each([
    ['empty.md', bytes(''), /^empty\.md is empty$/],
    ['a.zip', madeZip([{ name: 'x.txt', content: 'x' }]), /^a\.zip is a zip archive: archives are not taken/],
    ['nested.zip', madeZip([{ name: 'in/word/document.xml', content: 'x' }]), /is a zip archive/],
    ['a.docx', madeZip([{ name: 'x.txt', content: 'x' }]), /^a\.docx is a zip without word\/document\.xml/],
    ['a.gz', gzipSync('x'), /is a gzip archive/],
    ['a.md', bytes('BZh91AY'), /is a bzip2 archive/],
    ['a', bytes('\xfd7zXZ\0x', 'latin1'), /is an xz archive/],
    ['a', bytes("7z\xbc\xaf'\x1cx", 'latin1'), /is a 7z archive/],
    ['a', bytes('Rar!\x1a\x07x', 'latin1'), /is a rar archive/],
    ['a', bytes('\x28\xb5\x2f\xfdx', 'latin1'), /is a zstd archive/],
    ['a', tar(), /is a tar archive/],
    ['a.docx', bytes('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1x', 'latin1'), /protected by a password, or an old \.doc/],
    ['a.txt', bytes('{\\rtf1 x}'), /is RTF: save it as docx/],
    ['a.md', bytes(png, 'base64'), /is an image/],
    ['a.bin', bytes('abc\0def'), /^a\.bin is not text: its byte 3 is NUL$/],
  ])('%s of %o is refused by name', (name, content, says) => {
    expect(() => documentTypeOf(name, content)).toThrow(InvalidInputError)
    expect(() => documentTypeOf(name, content)).toThrow(says)
  })
})
