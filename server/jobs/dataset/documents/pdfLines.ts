/** What pdf.js tells of a piece of text: where it stands, and how large it is. */
export type PdfItem = {
  readonly str: string
  readonly transform: readonly unknown[]
  readonly width: number
  readonly height: number
  readonly hasEOL: boolean
}

export type PdfLine = {
  /** Cells of what may be a row of a table: the text on both sides of a wide gap. */
  readonly cells: readonly string[]
  readonly x: number
  readonly y: number
  /** Of its letters, in points. */
  readonly size: number
}

/** Wider than between words, in letters' sizes, also where a line is spread to the margin. */
const wideGap = 1.5

/** The lines of a page, in the order in which they are written. */
export const pdfLines = (items: readonly PdfItem[]): readonly PdfLine[] => {
  const lines: PdfLine[] = []
  let line: PdfItem[] = []
  for (const item of items) {
    line.push(item)
    if (!item.hasEOL) continue
    lines.push(...lineOf(line))
    line = []
  }
  return [...lines, ...lineOf(line)]
}

const lineOf = (items: readonly PdfItem[]): PdfLine[] => {
  const written = items.filter((item) => item.str.trim() !== '')
  const [first] = written
  if (first === undefined) return []
  const size = Math.max(...written.map((item) => item.height))
  const cells = items
    .map((item) => (item.str.trim() === '' && item.width > size * wideGap ? '\t' : item.str.replace(/[\t\n]/g, ' ')))
    .join('')
    .split('\t')
    .map((cell) => cell.trim())
    .filter((cell) => cell !== '')
  return [{ cells, x: coordinate(first, 4), y: coordinate(first, 5), size }]
}

const coordinate = ({ transform }: PdfItem, nth: number): number => {
  const value = transform[nth]
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
