import type { ParsedText } from '../parsedText.ts'
import { decodeText } from './decodeText.ts'
import { htmlText } from './htmlText.ts'

const declarations = [
  /<meta\b[^>]*?\bcharset\s*=\s*["']?\s*([\w.:-]+)/i,
  /^\s*<\?xml\b[^>]*?\bencoding\s*=\s*["']([\w.:-]+)/i,
] as const

/**
 * The text of an HTML document, in the encoding it declares. Raises `InvalidInputError` for what is no text.
 */
export const parseHtml = async (content: Uint8Array, name: string): Promise<ParsedText> => {
  const { text, notes } = decodeText(name, content, declaredEncoding(content))
  const parsed = await htmlText(text)
  return { ...parsed, notes: [...notes, ...parsed.notes] }
}

const declaredEncoding = (content: Uint8Array): string | null => {
  const head = Buffer.from(content.subarray(0, 4_096)).toString('latin1')
  return declarations.map((declaration) => declaration.exec(head)?.[1]).find((found) => found !== undefined) ?? null
}
