import { z } from 'zod'
import type { Declared, ParsedText } from '../parsedText.ts'
import { pdfBlocks, pdfSizes } from './pdfBlocks.ts'
import { pdfLines, type PdfLine } from './pdfLines.ts'
import { refusePdfBomb } from './refusePdfBomb.ts'
import { textBuilder } from './textBuilder.ts'
import { complaint, wrongDocument } from './wrongDocument.ts'

type Pdf = Awaited<ReturnType<typeof openPdf>>

/**
 * The text of a PDF page by page, with its paragraphs, and headings by the size of their letters. Raises
 * `InvalidInputError` for a PDF that is encrypted, damaged, a bomb, or has no text on any page.
 */
export const parsePdf = async (content: Uint8Array, name: string): Promise<ParsedText> => {
  refusePdfBomb(name, content)
  const pdf = await openPdf(content, name)
  try {
    const pages = await linesByPage(pdf, name)
    const silent = pages.flatMap((lines, index) => (lines.length === 0 ? [index + 1] : []))
    if (silent.length === pages.length) throw wrongDocument(name, scan(pages.length), { page: 1, pages: pages.length })
    const builder = textBuilder()
    const sizes = pdfSizes(pages.flat())
    for (const [index, lines] of pages.entries()) {
      builder.page(index + 1, () => {
        for (const { kind, text, level } of pdfBlocks(lines, sizes)) builder.add(kind, text, level)
      })
    }
    const { declared, notes } = await about(pdf)
    return { ...builder.built(), declared, notes: [...silentNotes(silent), ...notes] }
  } finally {
    await pdf.destroy()
  }
}

const scan = (pages: number): string =>
  `has no text on page 1 of ${pages}${pages === 1 ? '' : ' or any other'}: it looks like a scan, so recognise its text (OCR) first`

const silentNotes = (pages: readonly number[]): readonly string[] => {
  if (pages.length === 0) return []
  const shown = pages.slice(0, 20).join(', ')
  const more = pages.length > 20 ? ` and ${pages.length - 20} more` : ''
  return [pages.length === 1 ? `page ${shown} has no text` : `pages ${shown}${more} have no text`]
}

const openPdf = async (content: Uint8Array, name: string) => {
  const { getDocumentProxy } = await import('unpdf')
  try {
    // A copy: the library takes the bytes away. Its warnings would go to the console.
    return await getDocumentProxy(new Uint8Array(content), { verbosity: 0 })
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      throw wrongDocument(name, 'is encrypted: remove its password', { rule: 'encrypted' })
    }
    throw wrongDocument(name, `is damaged: ${complaint(error)}`, { rule: 'damaged' })
  }
}

const linesByPage = async (pdf: Pdf, name: string): Promise<readonly (readonly PdfLine[])[]> => {
  const pages: (readonly PdfLine[])[] = []
  for (let number = 1; number <= pdf.numPages; number += 1) {
    try {
      const page = await pdf.getPage(number)
      const { items } = await page.getTextContent()
      pages.push(pdfLines(items.flatMap((item) => ('str' in item ? [item] : []))))
      page.cleanup()
    } catch (error) {
      throw wrongDocument(name, `is damaged: page ${number} of ${pdf.numPages} cannot be read: ${complaint(error)}`, {
        page: number,
      })
    }
  }
  return pages
}

/** What XMP calls these names is what people look for under the others. */
const xmpNames = [
  ['cc:license', 'license'],
  ['xmprights:webstatement', 'license'],
  ['dc:rights', 'rights'],
] as const

const Values = z.record(z.string(), z.unknown()).catch({})

/** What a PDF says of itself, by names in lower case, and what it has beside its text. */
const about = async (pdf: Pdf): Promise<{ readonly declared: Declared; readonly notes: readonly string[] }> => {
  const { info, metadata } = await pdf.getMetadata()
  const { Custom: custom, ...values } = Values.parse(info)
  const said = [...Object.entries(values), ...Object.entries(Values.parse(custom))]
  for (const [name, plain] of xmpNames) said.push([plain, metadata?.get(name)])
  const declared: Record<string, string> = {}
  for (const [name, value] of said) {
    const text = Array.isArray(value) ? value.join(', ').trim() : typeof value === 'string' ? value.trim() : ''
    if (text !== '') declared[name.toLowerCase()] ??= text
  }
  const attached: unknown = await pdf.getAttachments()
  const notes = [
    ...(attached === null ? [] : ['its attached files are left out']),
    ...(values['IsAcroFormPresent'] === true ? ['what is filled into its form is left out'] : []),
  ]
  return { declared, notes }
}
