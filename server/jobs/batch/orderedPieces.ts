/** What holds less than this is one piece. */
const pieceBytesMin = 4 * 1_048_576

/**
 * Joins rows, given in any order, into pieces in the order of their index, and puts each piece when it is full.
 * Where a piece ends depends on the rows alone, so a resumed run puts the same pieces. What is kept in memory is one
 * piece and the rows that came ahead of their turn.
 */
export const orderedPieces = <Piece>(put: (content: Uint8Array) => Promise<Piece>, bytesMin = pieceBytesMin) => {
  const ahead = new Map<number, Uint8Array>()
  const pieces: Promise<Piece>[] = []
  let next = 0
  let rows: Uint8Array[] = []
  let bytes = 0

  const close = (): Promise<Piece> => {
    const piece = put(Buffer.concat(rows))
    rows = []
    bytes = 0
    pieces.push(piece)
    return piece
  }

  return {
    /** Resolves when every piece that this row completed has been put. */
    async add(index: number, row: Uint8Array): Promise<void> {
      const closed: Promise<Piece>[] = []
      ahead.set(index, row)
      for (let each = ahead.get(next); each !== undefined; each = ahead.get(next)) {
        ahead.delete(next)
        next += 1
        rows.push(each)
        bytes += each.byteLength
        if (bytes >= bytesMin) closed.push(close())
      }
      await Promise.all(closed)
    },
    /** Puts what is left. All pieces, in order. */
    async end(): Promise<readonly Piece[]> {
      if (rows.length > 0) await close()
      return Promise.all(pieces)
    },
  }
}
