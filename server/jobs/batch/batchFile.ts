import { TextDecoder } from 'node:util'
import { InvalidInputError } from '../../../domain/errors.ts'
import { wrongLine, type Place } from './batchPlace.ts'

const lineBytesMax = 4 * 1_048_576

export type NamedFile = { readonly name: string; readonly content: Uint8Array }

const newline = 0x0a

/**
 * The lines of a UTF-8 file that are not blank, with or without a byte order mark, ended by LF or CRLF.
 * Raises `InvalidInputError` for what is not text and for a line over `lineBytesMax`.
 */
export function* textLines({ name, content }: NamedFile): Generator<{ readonly place: Place; readonly text: string }> {
  refuseBinary(name, content)
  // Fatal: bytes that are no UTF-8 would else be replaced silently. The mark at the start is skipped by hand, since
  // the decoder would also drop one that a later line begins with.
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let start = hasByteOrderMark(content) ? 3 : 0
  for (let line = 1; start < content.byteLength; line += 1) {
    const found = content.indexOf(newline, start)
    const end = found === -1 ? content.byteLength : found
    const place = { file: name, line }
    // Before decoding: a line too long is not worth a string of its size.
    if (end - start > lineBytesMax) {
      throw wrongLine(place, `a line of ${end - start} bytes is over the limit of ${lineBytesMax}`, {
        bytes: end - start,
        bytesMax: lineBytesMax,
      })
    }
    const text = decoded(decoder, content.subarray(start, end), place)
    if (!/^[ \t\r]*$/.test(text)) yield { place, text }
    start = end + 1
  }
}

const decoded = (decoder: TextDecoder, bytes: Uint8Array, place: Place): string => {
  try {
    return decoder.decode(bytes)
  } catch {
    throw wrongLine(place, 'not UTF-8: the file is not text, or is in another encoding')
  }
}

const hasByteOrderMark = (content: Uint8Array): boolean =>
  content[0] === 0xef && content[1] === 0xbb && content[2] === 0xbf

const refuseBinary = (name: string, content: Uint8Array): void => {
  const offset = content.indexOf(0)
  if (offset === -1) return
  const [first, second] = content
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  const hint = isUtf16 ? ' (it looks like UTF-16: save it as UTF-8)' : ''
  throw new InvalidInputError(`${name} is not text: its byte ${offset} is NUL${hint}`, { file: name, offset })
}
