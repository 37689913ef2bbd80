import { assert, pre, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { decodeText } from '../../../../../server/jobs/dataset/documents/decodeText.ts'
import { parseHtml } from '../../../../../server/jobs/dataset/documents/parseHtml.ts'

const bytes = (text: string, encoding: BufferEncoding = 'utf8'): Uint8Array => new Uint8Array(Buffer.from(text, encoding))
const bigEndian = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'utf16le').swap16())
const words = 'Grüße, naïve café\nline two'

test.each([
  ['UTF-8', bytes(words), 'utf-8'],
  ['UTF-8 with a mark', bytes(`\ufeff${words}`), 'utf-8'],
  ['UTF-16 LE with a mark', bytes(`\ufeff${words}`, 'utf16le'), 'utf-16le'],
  ['UTF-16 BE with a mark', bigEndian(`\ufeff${words}`), 'utf-16be'],
])('%s is read without a guess', (_, content, encoding) => {
  expect(decodeText('a', content)).toEqual({ text: words, encoding, notes: [] })
})

test.each([
  ['UTF-16 LE without a mark', bytes(words, 'utf16le'), 'utf-16le'],
  ['UTF-16 BE without a mark', bigEndian(words), 'utf-16be'],
  ['Latin-1', bytes(words, 'latin1'), 'windows-1252'],
])('%s is read, and the guess is noted', (_, content, encoding) => {
  const decoded = decodeText('a', content)
  expect(decoded).toMatchObject({ text: words, encoding })
  expect(decoded.notes).toEqual([expect.stringContaining(encoding)])
})

test('what windows-1252 has beyond Latin-1 is read as it means it', () => {
  expect(decodeText('a', bytes('\x80 \x93x\x94 \x96\xe9', 'latin1')).text).toBe('€ “x” –é')
})

test('lines are ended by LF, whatever ended them', () => {
  expect(decodeText('a', bytes('a\r\nb\rc\n\r\nd')).text).toBe('a\nb\nc\n\nd')
})

test.each([
  ['NUL', bytes('ab\0c'), /^a is not text: its byte 2 is NUL$/],
  ['control characters in what is no UTF-8', bytes('\xff\x01\x02', 'latin1'), /its byte 1 is a control character/],
  ['half a character of UTF-16', bytes('\ufeffab\ud800c', 'utf16le'), /is not well-formed utf-16le/],
  ['an odd byte of UTF-16', bytes('\ufeffab', 'utf16le').subarray(0, 5), /is not well-formed utf-16le/],
])('%s is refused', (_, content, says) => {
  expect(() => decodeText('a', content)).toThrow(says)
})

test('every text that is well-formed comes back from UTF-8 and UTF-16 as it was', () => {
  assert(
    property(string({ unit: 'grapheme', minLength: 1 }), (text) => {
      pre(!/[\r\0\ufeff]/.test(text))
      expect(decodeText('a', bytes(text)).text).toBe(text)
      expect(decodeText('a', bytes(`\ufeff${text}`, 'utf16le')).text).toBe(text)
    }),
  )
})

test('HTML is read in the encoding it declares', async () => {
  const html = (declaration: string): Uint8Array => bytes(`${declaration}<p>\xe0\xe9</p>`, 'latin1')
  const text = async (declaration: string) => (await parseHtml(html(declaration), 'a.html')).text
  expect(await text('<meta charset="iso-8859-5">')).toBe('рщ')
  expect(await text('<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">')).toBe('ай')
  expect(await text('<?xml version="1.0" encoding="iso-8859-1"?>')).toBe('àé')
})

test('HTML that is not what it declares is read as what it is, with a note', async () => {
  const parsed = await parseHtml(bytes('<meta charset="utf-8"><p>\xe9</p>', 'latin1'), 'a.html')
  expect(parsed).toMatchObject({ text: 'é', notes: ['it is not UTF-8: read as windows-1252'] })
  const unknown = await parseHtml(bytes('<meta charset="klingon"><p>é</p>'), 'a.html')
  expect(unknown).toMatchObject({ text: 'é', notes: ['it is not klingon, as it says'] })
})
