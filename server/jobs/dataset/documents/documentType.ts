import { mediaTypes, type DocumentType } from '../datasetInput.ts'
import { utf16Of } from './decodeText.ts'
import { wrongDocument } from './wrongDocument.ts'
import { zipEntryNames } from './zipEntryNames.ts'

/**
 * What a document is, by its content; the name decides only between kinds of text. Raises `InvalidInputError` naming
 * document and rule for what is empty, an archive, or no text in any of the formats that are read.
 */
export const documentTypeOf = (name: string, content: Uint8Array): DocumentType => {
  if (content.byteLength === 0) throw wrongDocument(name, 'is empty', { rule: 'empty' })
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  if (startsWith(bytes, 'PK\x03\x04') || startsWith(bytes, 'PK\x05\x06')) return zipType(name, bytes)
  const refused = signatures.find(([signature, , offset]) => startsWith(bytes, signature, offset))
  if (refused !== undefined) throw wrongDocument(name, `is ${refused[1]}`, { rule: 'media_type' })
  const nul = utf16Of(bytes) === null ? bytes.indexOf(0) : -1
  if (isPdf(name, bytes, nul !== -1)) return mediaTypes.pdf
  if (nul !== -1) throw wrongDocument(name, `is not text: its byte ${nul} is NUL`, { rule: 'media_type', offset: nul })
  return textType(name, bytes)
}

const archive = (kind: string): string => `${kind}: archives are not taken, so unpack it and give what is in it`
const image = 'an image: only documents with text are taken'
const program = 'a program, not a document'
const save = 'save it as docx or PDF'

/** What a file begins with (or has at an offset), and what that makes it. */
const signatures: readonly (readonly [signature: string, what: string, offset?: number])[] = [
  ['\x1f\x8b', archive('a gzip archive')],
  ['BZh', archive('a bzip2 archive')],
  ['\xfd7zXZ\0', archive('an xz archive')],
  ['7z\xbc\xaf\x27\x1c', archive('a 7z archive')],
  ['Rar!\x1a\x07', archive('a rar archive')],
  ['\x28\xb5\x2f\xfd', archive('a zstd archive')],
  ['\x04\x22\x4d\x18', archive('an lz4 archive')],
  ['ustar', archive('a tar archive'), 257],
  ['MSCF\0', archive('a cab archive')],
  ['!<arch>\n', archive('an ar archive')],
  ['PK\x07\x08', archive('a part of a split zip archive')],
  [
    '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1',
    `an Office document that is protected by a password, or an old .doc: remove the password, or ${save}`,
  ],
  ['{\\rtf', `RTF: ${save}`],
  ['%!PS', `PostScript: ${save}`],
  ['\x89PNG\r\n', image],
  ['\xff\xd8\xff', image],
  ['GIF87a', image],
  ['GIF89a', image],
  ['II*\0', image],
  ['MM\0*', image],
  ['\x7fELF', program],
]

const startsWith = (bytes: Buffer, signature: string, offset = 0): boolean =>
  bytes.toString('latin1', offset, offset + signature.length) === signature

const documentPart = 'word/document.xml'

const zipType = (name: string, bytes: Buffer): DocumentType => {
  const names = [...zipEntryNames(bytes)]
  // Without a directory it is damaged: what it was meant to be shows from the headers before each part.
  if (names.length === 0 ? bytes.includes(documentPart, 0, 'latin1') : names.includes(documentPart)) return mediaTypes.docx
  const what = /\.docx$/i.test(name) ? `a zip without ${documentPart}: a damaged docx, or another archive` : 'a zip archive'
  throw wrongDocument(name, `is ${archive(what)}`, { rule: 'media_type' })
}

/** The mark may stand after what a mail or web server put before it; a text that only speaks of it is no PDF. */
const isPdf = (name: string, bytes: Buffer, isBinary: boolean): boolean => {
  const at = bytes.subarray(0, 1024).indexOf('%PDF-', 0, 'latin1')
  if (at === -1) return false
  return bytes.toString('latin1', 0, at).trim() === '' || isBinary || /\.pdf$/i.test(name)
}

const opensHtml = /^(?:\s|<\?xml[^>]*>|<!--[\s\S]*?-->)*<(?:!doctype\s+html|html|head|body)\b/i

const textType = (name: string, bytes: Buffer): DocumentType => {
  // Without the zeros and the mark of UTF-16, so that what is written in ASCII shows.
  const head = bytes.toString('latin1', 0, 4_096).replace(/\0|^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/g, '')
  if (opensHtml.test(head)) return mediaTypes.html
  if (/\.x?html?$/i.test(name) && /<[a-z!/][^<>]*>/i.test(head)) return mediaTypes.html
  return /\.(?:md|markdown|mdown|mkd)$/i.test(name) ? mediaTypes.markdown : mediaTypes.text
}
