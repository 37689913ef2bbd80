import { Document, Footer, Header, HeadingLevel, ImageRun, Packer, Paragraph, Table, TableCell, TableRow } from 'docx'
import Pdf from 'pdfkit'

type PdfOptions = ConstructorParameters<typeof Pdf>[0]

/** A PDF as a program would write it. */
export const madePdf = (write: (pdf: PDFKit.PDFDocument) => void, options: PdfOptions = {}): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const pdf = new Pdf(options)
    const parts: Buffer[] = []
    pdf.on('data', (part: Buffer) => parts.push(part))
    pdf.on('end', () => resolve(new Uint8Array(Buffer.concat(parts))))
    pdf.on('error', reject)
    write(pdf)
    pdf.end()
  })

export type DocxParts = {
  readonly heading?: string
  readonly paragraphs?: readonly string[]
  readonly rows?: readonly (readonly string[])[]
  readonly items?: readonly string[]
  readonly header?: string
  readonly footer?: string
  readonly image?: boolean
  readonly title?: string
  readonly properties?: Readonly<Record<string, string>>
}

const pixel = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

/** A docx as a word processor would write it. */
export const madeDocx = async (parts: DocxParts): Promise<Uint8Array> => {
  const { heading, paragraphs = [], rows = [], items = [], header, footer, title, properties = {} } = parts
  const row = (cells: readonly string[]): TableRow =>
    new TableRow({ children: cells.map((cell) => new TableCell({ children: [new Paragraph(cell)] })) })
  const document = new Document({
    ...(title === undefined ? {} : { title }),
    customProperties: Object.entries(properties).map(([name, value]) => ({ name, value })),
    sections: [
      {
        ...(header === undefined ? {} : { headers: { default: new Header({ children: [new Paragraph(header)] }) } }),
        ...(footer === undefined ? {} : { footers: { default: new Footer({ children: [new Paragraph(footer)] }) } }),
        children: [
          ...(heading === undefined ? [] : [new Paragraph({ text: heading, heading: HeadingLevel.HEADING_1 })]),
          ...paragraphs.map((text) => new Paragraph(text)),
          ...items.map((text) => new Paragraph({ text, bullet: { level: 0 } })),
          ...(rows.length === 0 ? [] : [new Table({ rows: rows.map(row) })]),
          ...(parts.image === true
            ? [
                new Paragraph({
                  children: [new ImageRun({ type: 'png', data: pixel, transformation: { width: 1, height: 1 } })],
                }),
              ]
            : []),
        ],
      },
    ],
  })
  return new Uint8Array(await Packer.toBuffer(document))
}

/** Repeats a sentence with a number in it, so that no two are the same. */
export const sentences = (count: number): string =>
  Array.from({ length: count }, (_, nth) => `Sentence ${nth} of the document says what it has to say.`).join(' ')
