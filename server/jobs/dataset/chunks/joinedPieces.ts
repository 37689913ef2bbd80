import { cutPiece, type Piece } from './textPieces.ts'
import type { CountTokens } from '../tokens.ts'

/** A chunk begins at a heading of these levels, if what stands before it is enough for one. */
const sectionLevelMax = 2

/** A chunk under this share of the maximum is joined with its neighbours where that can be. */
const enoughShare = 0.25

type Group = readonly Piece[]
type Joining = { readonly text: string; readonly tokensMax: number; readonly count: CountTokens }

// What stands between two pieces is white space: a token at most.
const tokensOf = (pieces: Group): number => pieces.reduce((sum, { tokens }) => sum + tokens + 1, 0)
const startsSection = (piece: Piece | undefined): boolean => (piece?.level ?? Infinity) <= sectionLevelMax
const isHeading = (piece: Piece | undefined): boolean => piece !== undefined && piece.level !== null

/** Joins pieces to groups of at most `tokensMax`, as far as tokens of the parts sum up to those of the whole. */
export const joinedPieces = async (pieces: AsyncIterable<Piece>, joining: Joining): Promise<readonly Group[]> => {
  const { text, tokensMax, count } = joining
  const enough = tokensMax * enoughShare
  const groups: Group[] = []
  let open: Piece[] = []
  let openTokens = 0

  /** Ends the open group, and begins another with these pieces. */
  const begin = (group: Group): void => {
    if (open.length > 0) groups.push(...evened(groups.pop() ?? [], open, joining))
    open = [...group]
    openTokens = tokensOf(group)
  }
  const fitsBefore = (): boolean => open[0]?.apart !== true && tokensOf(groups.at(-1) ?? []) + openTokens <= tokensMax

  const add = (piece: Piece): void => {
    if (piece.apart) return begin([piece])
    if (startsSection(piece) && (openTokens >= enough || (groups.length > 0 && fitsBefore()))) return begin([piece])
    if (openTokens + piece.tokens <= tokensMax) {
      open.push(piece)
      openTokens += piece.tokens + 1
      return
    }
    if (openTokens < enough && !piece.isCut) return cutPiece(text, piece, count).forEach(add)
    const headings = open.slice(open.findLastIndex((each) => !isHeading(each)) + 1)
    const goesWith = headings.length < open.length && !(piece.isCut && tokensOf(headings) + piece.tokens > tokensMax)
    // A heading goes with what stands under it.
    if (goesWith) open = open.slice(0, open.length - headings.length)
    begin(goesWith ? headings : [])
    add(piece)
  }

  for await (const piece of pieces) add(piece)
  begin([])
  return groups
}

/** The group before and the last one, which takes of it what it lacks, or is joined to it. */
const evened = (before: Group, last: Group, { text, tokensMax, count }: Joining): readonly Group[] => {
  const enough = tokensMax * enoughShare
  if (before.length === 0) return [last]
  if (tokensOf(last) >= enough || last[0]?.apart === true) return [before, last]
  if (tokensOf(before) + tokensOf(last) <= tokensMax) return [[...before, ...last]]
  if (startsSection(last[0])) return [before, last]
  const large = before.findLast(({ tokens, isCut }) => !isCut && tokens > tokensMax / 2)
  const pieces = large === undefined ? before : before.flatMap((piece) => (piece === large ? cutPiece(text, piece, count) : piece))
  let kept = pieces.length
  const lacks = (): boolean => tokensOf(pieces.slice(kept)) + tokensOf(last) < enough || isHeading(pieces[kept - 1])
  while (kept > 1 && lacks()) kept -= 1
  const groups = [pieces.slice(0, kept), [...pieces.slice(kept), ...last]] as const
  return tokensOf(groups[0]) >= enough && tokensOf(groups[1]) <= tokensMax ? groups : [before, last]
}
