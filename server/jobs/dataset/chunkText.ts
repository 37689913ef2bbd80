import { joinedPieces } from './chunks/joinedPieces.ts'
import { pageAt, type Structure } from './parsedText.ts'
import { type Piece, piecesOf } from './chunks/textPieces.ts'
import type { TextRange } from './chunks/textRange.ts'
import { unhurried } from './chunks/unhurried.ts'
import type { CountTokens } from './tokens.ts'

export type TextChunk = TextRange & {
  readonly tokens: number
  /** The headings it stands under, outermost first; those it begins with among them. */
  readonly headings: readonly string[]
  readonly page?: number
}

/**
 * Cuts a text into chunks of at most `chunkTokens` (64 or more), by its structure: small blocks are joined, but not
 * beyond a heading of the first two levels once there is enough for a chunk; large ones are cut at sentences, lines or
 * rows, and between words at last. The chunks are in order and trimmed, and together hold everything but white space
 * and the `gaps`, which no chunk spans: these are to be in order and apart. A large text does not hold up the process.
 */
export const chunkText = async (
  { text, blocks, pages }: Structure & { readonly text: string },
  options: { readonly chunkTokens: number; readonly count: CountTokens; readonly gaps?: readonly TextRange[] },
): Promise<readonly TextChunk[]> => {
  const { chunkTokens: tokensMax, count, gaps = [] } = options
  const pieces = unhurried(piecesOf({ text, blocks, gaps }, { tokensMax, count }))

  const chunksOf = (group: readonly Piece[]): readonly TextChunk[] => {
    const [first, last] = [group[0], group.at(-1)]
    if (first === undefined || last === undefined) return []
    const tokens = count(text.slice(first.start, last.end))
    if (tokens > tokensMax && group.length > 1) {
      const middle = Math.ceil(group.length / 2)
      return [...chunksOf(group.slice(0, middle)), ...chunksOf(group.slice(middle))]
    }
    const { headings } = group.find(({ level }) => level === null) ?? last
    const page = pageAt(pages, first.start)
    return [{ start: first.start, end: last.end, tokens, headings, ...(page === undefined ? {} : { page }) }]
  }
  const chunks: TextChunk[] = []
  for await (const group of unhurried(await joinedPieces(pieces, { text, tokensMax, count }))) chunks.push(...chunksOf(group))
  return chunks
}
