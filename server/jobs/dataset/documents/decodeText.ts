import { TextDecoder } from 'node:util'
import { complaint, wrongDocument } from './wrongDocument.ts'

export type DecodedText = {
  /** Well-formed, lines ended by LF, without a byte order mark. */
  readonly text: string
  /** The encoding it was read as, by its WHATWG name. */
  readonly encoding: string
  /** What had to be guessed, as sentences. */
  readonly notes: readonly string[]
}

/**
 * The text of a document: by its byte order mark, else as `declared`, else as UTF-16 where its zeros show it, as UTF-8
 * where it is, and as windows-1252 where it is not. Raises `InvalidInputError` for what is no text.
 */
export const decodeText = (name: string, content: Uint8Array, declared: string | null = null): DecodedText => {
  const utf16 = utf16Of(content)
  if (utf16 !== null) {
    const notes = hasMark(content) ? [] : [`it has no byte order mark: read as ${utf16}, as its zeros suggest`]
    return { text: strictly(name, content, utf16), encoding: utf16, notes }
  }
  const nul = content.indexOf(0)
  if (nul !== -1) throw wrongDocument(name, `is not text: its byte ${nul} is NUL`, { offset: nul })
  const asDeclared = declared === null || hasMark(content) ? null : declaredText(content, declared)
  if (asDeclared !== null) return { ...asDeclared, notes: [] }
  const ignored = declared === null || hasMark(content) || /^utf-?8$/i.test(declared) ? [] : [`it is not ${declared}, as it says`]
  return undeclaredText(name, content, ignored)
}

/** UTF-16 by its byte order mark, or because every other byte of its beginning is zero. */
export const utf16Of = (content: Uint8Array): 'utf-16le' | 'utf-16be' | null => {
  const [first, second] = content
  if (first === 0xff && second === 0xfe) return content[2] === 0 && content[3] === 0 ? null : 'utf-16le'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  const pairs = Math.min(content.byteLength, 1_024) >> 1
  if (pairs < 2 || content.byteLength % 2 !== 0) return null
  const zeros = [0, 0]
  for (let at = 0; at < pairs * 2; at += 1) if (content[at] === 0) zeros[at % 2] = (zeros[at % 2] ?? 0) + 1
  const [even = 0, odd = 0] = zeros
  if (odd > pairs * 0.6 && even === 0) return 'utf-16le'
  return even > pairs * 0.6 && odd === 0 ? 'utf-16be' : null
}

const hasMark = ([first, second, third]: Uint8Array): boolean =>
  (first === 0xef && second === 0xbb && third === 0xbf) || (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)

const strictly = (name: string, content: Uint8Array, encoding: string): string => {
  try {
    return withLf(new TextDecoder(encoding, { fatal: true }).decode(content))
  } catch (error) {
    throw wrongDocument(name, `is not well-formed ${encoding}: ${complaint(error)}`, { encoding })
  }
}

const declaredText = (content: Uint8Array, declared: string): Omit<DecodedText, 'notes'> | null => {
  try {
    const decoder = new TextDecoder(declared, { fatal: true })
    // What an ASCII reader could read the declaration in is not UTF-16, whatever it says.
    if (decoder.encoding.startsWith('utf-16')) return null
    const text = decoder.encoding === 'windows-1252' ? windows1252(content) : decoder.decode(content)
    return { text: withLf(text), encoding: decoder.encoding }
  } catch {
    return null // A name that is not known, or not true.
  }
}

/** In binary content that is no UTF-8 either; a text has none of them. */
const controls = /[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]/

const undeclaredText = (name: string, content: Uint8Array, notes: readonly string[]): DecodedText => {
  try {
    return { text: withLf(new TextDecoder('utf-8', { fatal: true }).decode(content)), encoding: 'utf-8', notes }
  } catch {
    const text = windows1252(content)
    const offset = text.search(controls)
    if (offset !== -1) throw wrongDocument(name, `is not text: it is no UTF-8, and its byte ${offset} is a control character`, { offset })
    return { text: withLf(text), encoding: 'windows-1252', notes: [...notes, 'it is not UTF-8: read as windows-1252'] }
  }
}

const from0x80 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** By hand: versions of Node differ in what their decoder makes of 0x80 to 0x9f. */
const windows1252 = (content: Uint8Array): string =>
  Buffer.from(content.buffer, content.byteOffset, content.byteLength)
    .toString('latin1')
    .replace(/[\x80-\x9f]/g, (character) => from0x80[character.charCodeAt(0) - 0x80] ?? character)

const withLf = (text: string): string => text.replace(/\r\n?/g, '\n')
