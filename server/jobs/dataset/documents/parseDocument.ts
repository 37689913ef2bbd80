import type { DocumentType } from '../datasetInput.ts'
import type { ParsedText } from '../parsedText.ts'
import { wrongDocument } from './wrongDocument.ts'

type Parser = (content: Uint8Array, name: string) => Promise<ParsedText>

const parserOf: Readonly<Record<DocumentType, () => Promise<Parser>>> = {
  'text/plain': async () => (await import('./parsePlain.ts')).parsePlain,
  'text/markdown': async () => (await import('./parseMarkdown.ts')).parseMarkdown,
  'text/html': async () => (await import('./parseHtml.ts')).parseHtml,
  'application/pdf': async () => (await import('./parsePdf.ts')).parsePdf,
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': async () => (await import('./parseDocx.ts')).parseDocx,
}

/**
 * A document of any type as text. Raises `InvalidInputError` naming the document, and the page where there is one, for
 * what is damaged, encrypted, or has no text.
 */
export const parseDocument = async (type: DocumentType, name: string, content: Uint8Array): Promise<ParsedText> => {
  const parse = await parserOf[type]()
  const parsed = await parse(content, name).catch((error: unknown) => {
    if (error instanceof RangeError && /call stack/i.test(error.message)) {
      throw wrongDocument(name, 'is nested too deeply to be read', { rule: 'nesting' })
    }
    throw error
  })
  if (parsed.blocks.length === 0) throw wrongDocument(name, 'has no text', { rule: 'no_text' })
  return parsed
}
