import { cutOnce, divided } from './dividedText.ts'
import type { Block } from '../parsedText.ts'
import { type TextRange, trimmed } from './textRange.ts'
import type { CountTokens } from '../tokens.ts'

/** What chunks are joined from: a block, a part of one that is too large, or what a gap leaves of it. */
export type Piece = TextRange & {
  readonly tokens: number
  readonly kind: Block['kind']
  /** Of a heading. */
  readonly level: number | null
  /** The headings it stands under, outermost first; of a heading, with itself. */
  readonly headings: readonly string[]
  /** Something that is left out stands before it: nothing is to be joined over that. */
  readonly apart: boolean
  /** Cut out of a block already. */
  readonly isCut: boolean
}

type Counting = { readonly tokensMax: number; readonly count: CountTokens }

/** All pieces of a text, in order, none over `tokensMax`. `gaps` are left out: in order, and apart from each other. */
export function* piecesOf(
  { text, blocks, gaps }: { readonly text: string; readonly blocks: readonly Block[]; readonly gaps: readonly TextRange[] },
  { tokensMax, count }: Counting,
): Generator<Piece> {
  const headings = headingStack(text)
  let nextGap = 0
  let end = 0
  /** Whether a gap stands between the piece before and this place. */
  const isApart = (start: number): boolean => {
    let apart = false
    for (let gap = gaps[nextGap]; gap !== undefined && gap.end <= start; gap = gaps[nextGap]) {
      apart ||= gap.start >= end
      nextGap += 1
    }
    return apart
  }
  for (const block of blocks) {
    const { kind } = block
    const level = kind === 'heading' ? (block.level ?? 1) : null
    const under = headings(block)
    for (const range of outside(text, block, gaps, nextGap)) {
      for (const part of divided(text, { ...range, kind }, { sizeMax: tokensMax, sizeOf: count })) {
        const apart = isApart(part.start)
        const isCut = part.start > range.start || part.end < range.end
        end = part.end
        yield { start: part.start, end, tokens: part.size, kind, level, headings: under, apart, isCut }
      }
    }
  }
}

/** The piece in smaller ones, where it has a seam. */
export const cutPiece = (text: string, piece: Piece, count: CountTokens): readonly Piece[] =>
  cutOnce(text, piece, piece.kind).map(({ start, end }, nth) => {
    const tokens = count(text.slice(start, end))
    return { ...piece, start, end, tokens, apart: piece.apart && nth === 0, isCut: true }
  })

/** What no gap covers of a block, trimmed, by the gaps from `nextGap` on. */
const outside = (text: string, block: TextRange, gaps: readonly TextRange[], nextGap: number): readonly TextRange[] => {
  const ranges: TextRange[] = []
  let { start } = block
  for (let nth = nextGap; start < block.end; nth += 1) {
    const gap = gaps[nth] ?? { start: block.end, end: block.end }
    const range = trimmed(text, { start, end: Math.max(start, Math.min(gap.start, block.end)) })
    if (range !== null) ranges.push(range)
    start = Math.max(start, gap.start >= block.end ? block.end : gap.end)
  }
  return ranges
}

const headingUnitsMax = 200

/** The headings that hold at each block, the blocks given in order. */
const headingStack = (text: string): ((block: Block) => readonly string[]) => {
  let open: readonly { readonly level: number; readonly title: string }[] = []
  let titles: readonly string[] = []
  return ({ kind, level = 1, start, end }) => {
    if (kind === 'heading') {
      const title = titleOf(text.slice(start, Math.min(end, start + headingUnitsMax)))
      open = [...open.filter((each) => each.level < level), { level, title }]
      titles = open.map((each) => each.title)
    }
    return titles
  }
}

/** Without the marks that make a line of Markdown a heading, and without half a character at its end. */
const titleOf = (source: string): string =>
  source
    .replace(/[\uD800-\uDBFF]$/, '')
    .replace(/^#{1,6}\s|\n\s*(?:=+|-+)\s*$|\s#+\s*$/g, '')
    .replace(/\s+/g, ' ')
    .trim()
