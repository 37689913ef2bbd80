import type { Block } from '../parsedText.ts'
import type { PdfLine } from './pdfLines.ts'

export type PdfBlock = { readonly kind: Block['kind']; readonly level?: number; readonly text: string }

/** Sizes that are told apart: what differs less is set in the same letters. */
const rounded = (size: number): number => Math.round(size * 2) / 2

/** The size of most of a document's letters, and those that stand out from it, the largest first. */
export type PdfSizes = { readonly body: number; readonly headings: readonly number[] }

export const pdfSizes = (lines: Iterable<PdfLine>): PdfSizes => {
  const letters = new Map<number, number>()
  for (const { cells, size } of lines) {
    const length = cells.reduce((sum, cell) => sum + cell.length, 0)
    letters.set(rounded(size), (letters.get(rounded(size)) ?? 0) + length)
  }
  const [[body] = [0]] = [...letters].toSorted((left, right) => right[1] - left[1] || left[0] - right[0])
  const headings = [...letters.keys()].filter((size) => size >= body * 1.15).toSorted((left, right) => right - left)
  return { body, headings }
}

/** The blocks of a page: lines that stand together, in letters of one size. */
export const pdfBlocks = (lines: readonly PdfLine[], sizes: PdfSizes): readonly PdfBlock[] => {
  const leading = usualLeading(lines)
  const groups: PdfLine[][] = []
  for (const [index, line] of lines.entries()) {
    const previous = lines[index - 1]
    const group = groups.at(-1)
    if (previous === undefined || group === undefined || isApart(previous, line, leading)) groups.push([line])
    else group.push(line)
  }
  return groups.map((group) => blockOf(group, sizes))
}

/** From line to line within a paragraph: the middle one, in letters' sizes. */
const usualLeading = (lines: readonly PdfLine[]): number => {
  const found = lines
    .flatMap((line, index) => {
      const previous = lines[index - 1]
      if (previous === undefined || rounded(previous.size) !== rounded(line.size)) return []
      const leading = (previous.y - line.y) / line.size
      return leading > 0.5 && leading < 4 ? [leading] : []
    })
    .toSorted((left, right) => left - right)
  return found[found.length >> 1] ?? 1.2
}

const isApart = (previous: PdfLine, line: PdfLine, leading: number): boolean => {
  const fall = (previous.y - line.y) / line.size
  const isIndented = line.x - previous.x > line.size * 0.8 && endsSentence(previous)
  return rounded(previous.size) !== rounded(line.size) || fall > Math.max(leading * 1.3, 1.25) || fall < -0.5 || isIndented
}

const endsSentence = ({ cells }: PdfLine): boolean => /[.!?:”"’)]$/.test(cells.at(-1) ?? '')

const headingCharactersMax = 200

const blockOf = (lines: readonly PdfLine[], { headings }: PdfSizes): PdfBlock => {
  // One line with a gap is a tab or a number at the margin.
  const isTable = lines.length > 1 && lines.filter(({ cells }) => cells.length > 1).length * 2 > lines.length
  const joined = lines.map(({ cells }) => cells.join(isTable ? ' | ' : ' ')).join('\n')
  const text = isTable ? joined : joined.replace(dividedWord, '$1$2')
  const rank = headings.indexOf(rounded(lines[0]?.size ?? 0))
  if (rank !== -1 && text.length <= headingCharactersMax) return { kind: 'heading', level: Math.min(rank + 1, 6), text }
  return { kind: isTable ? 'table' : 'paragraph', text }
}

/** A word that was divided at the end of a line, and is written with a hyphen nowhere else in it. */
const dividedWord = /(?<![-\p{L}])(\p{L}+)-\n(\p{Ll}+)(?![-\p{L}])/gu
