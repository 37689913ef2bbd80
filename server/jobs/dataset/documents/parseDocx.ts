import type { ParsedText } from '../parsedText.ts'
import { docxDeclared, docxParagraphs } from './docxDeclared.ts'
import { htmlText } from './htmlText.ts'
import { openedDocx, type OpenedDocx } from './openedDocx.ts'
import { complaint, wrongDocument } from './wrongDocument.ts'

/**
 * The text of a docx with its headings, lists and tables: first what its headers say, then the document with its
 * notes, then what its footers say. Raises `InvalidInputError` for one that is encrypted, damaged or a zip bomb.
 */
export const parseDocx = async (content: Uint8Array, name: string): Promise<ParsedText> => {
  const opened = await openedDocx(content, name)
  const { html, notes } = await converted(content, name)
  const headers = await paragraphsOf(opened, 'header')
  const footers = await paragraphsOf(opened, 'footer')
  const parsed = await htmlText(`${headers}${html}${footers}`)
  const comments = opened.names.includes('word/comments.xml') ? ['its comments are left out'] : []
  return { ...parsed, declared: await docxDeclared(opened.kept), notes: [...parsed.notes, ...comments, ...notes] }
}

/** From a note to where it is called, in the words of mammoth. */
const backLinks = / ?<a href="#(?:foot|end)note-ref-[^"]*">↑<\/a>/g

/** More would say no more. */
const notesMax = 20

const converted = async (content: Uint8Array, name: string): Promise<{ readonly html: string; readonly notes: readonly string[] }> => {
  const { default: mammoth } = await import('mammoth')
  try {
    const { value, messages } = await mammoth.convertToHtml(
      { buffer: Buffer.from(content.buffer, content.byteOffset, content.byteLength) },
      { convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: '' })), externalFileAccess: false },
    )
    // A style that has no meaning in HTML changes no text.
    const said = messages.map(({ message }) => message).filter((message) => !/^Unrecognised \w+ style/.test(message))
    return { html: value.replace(backLinks, ''), notes: [...new Set(said)].slice(0, notesMax) }
  } catch (error) {
    if (error instanceof RangeError) throw error
    throw wrongDocument(name, `is damaged: ${complaint(error)}`, { rule: 'damaged' })
  }
}

const paragraphsOf = async ({ kept }: OpenedDocx, kind: 'header' | 'footer'): Promise<string> => {
  const found = new Set<string>()
  for (const [part, xml] of [...kept].toSorted(([left], [right]) => (left < right ? -1 : 1))) {
    if (part.startsWith(`word/${kind}`)) for (const paragraph of await docxParagraphs(xml)) found.add(paragraph)
  }
  return [...found].map((paragraph) => `<p>${escaped(paragraph)}</p>`).join('')
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
