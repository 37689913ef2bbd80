import { inflateSync } from 'node:zlib'
import { wrongDocument } from './wrongDocument.ts'

/** Of one stream, unpacked: a page, a font or a table of objects holds far less. */
const streamBytesMax = 128 * 1_048_576
/** Before a stream, where its dictionary says how it is packed. */
const dictionaryBytes = 1_024

/**
 * Raises `InvalidInputError` for a PDF with a stream that unpacks to more than a document has. Unpacks each by itself,
 * since the reader of PDFs would hold it all, and outside of the memory that a thread is limited to. Pictures are
 * passed over, as that reader does.
 */
export const refusePdfBomb = (name: string, content: Uint8Array): void => {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  for (let at = bytes.indexOf('stream'); at !== -1; at = bytes.indexOf('stream', at + 6)) {
    const end = bytes.indexOf('endstream', at + 6)
    if (end === -1) return
    const dictionary = bytes.toString('latin1', Math.max(0, at - dictionaryBytes), at)
    const own = dictionary.slice(dictionary.lastIndexOf(' obj') + 1)
    const start = at + (bytes[at + 6] === 0x0d ? 8 : 7)
    if (!/\/Subtype\s*\/Image\b/.test(own) && isBomb(bytes.subarray(start, end), timesPacked(own))) {
      const rule = { rule: 'pdf_bomb', offset: at, bytesMax: streamBytesMax }
      throw wrongDocument(name, `looks like a bomb: the stream at its byte ${at} unpacks to more than ${streamBytesMax} bytes`, rule)
    }
    at = end + 3
  }
}

const timesPacked = (dictionary: string): number => dictionary.match(/\/(?:FlateDecode|Fl)\b/g)?.length ?? 0

const isBomb = (packed: Uint8Array, times: number): boolean => {
  try {
    let content = packed
    for (let nth = 0; nth < times; nth += 1) content = inflateSync(content, { maxOutputLength: streamBytesMax })
    return false
  } catch (error) {
    // What cannot be unpacked is for the reader to judge.
    return error instanceof RangeError
  }
}
