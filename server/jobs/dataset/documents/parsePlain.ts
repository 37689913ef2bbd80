import type { Block, ParsedText } from '../parsedText.ts'
import { decodeText } from './decodeText.ts'

/** A plain text as it stands; its blocks are its paragraphs. Raises `InvalidInputError` for what is no text. */
export const parsePlain = async (content: Uint8Array, name: string): Promise<ParsedText> => {
  const { text, notes } = decodeText(name, content)
  return { text, blocks: [...paragraphs(text)], pages: [], declared: {}, notes }
}

/** What stands between empty lines. */
function* paragraphs(text: string): Generator<Block> {
  let start = -1
  let end = -1
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf('\n', at)
    const lineEnd = found === -1 ? text.length : found
    const line = text.slice(at, lineEnd)
    const words = line.trimEnd()
    if (words === '') {
      if (start !== -1) yield { kind: 'paragraph', start, end }
      start = -1
    } else {
      if (start === -1) start = at + line.length - line.trimStart().length
      end = at + words.length
    }
    at = lineEnd + 1
  }
  if (start !== -1) yield { kind: 'paragraph', start, end }
}
