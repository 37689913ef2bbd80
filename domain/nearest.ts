/**
 * The candidate that the word was most likely meant to be, or null when none is near: at most one slip (a letter
 * missing, added, wrong or swapped with its neighbour) for every three letters. Case does not count. Of equally near
 * ones the first.
 */
export const nearest = (word: string, candidates: readonly string[]): string | null => {
  let best: string | null = null
  let fewest = Infinity
  for (const candidate of candidates) {
    const slipsMax = Math.max(1, Math.floor(candidate.length / 3))
    // Also what keeps a hostile word of megabytes from being compared letter by letter.
    if (Math.abs(candidate.length - word.length) > slipsMax) continue
    const found = slips(word.toLowerCase(), candidate.toLowerCase())
    if (found <= slipsMax && found < fewest) {
      best = candidate
      fewest = found
    }
  }
  return best
}

/** The optimal string alignment distance. */
const slips = (left: string, right: string): number => {
  let beforePrevious: readonly number[] = []
  let previous = Array.from({ length: right.length + 1 }, (_, column) => column)
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row]
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1]
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1]
      current.push(
        Math.min(
          at(previous, column) + 1,
          at(current, column - 1) + 1,
          at(previous, column - 1) + (same ? 0 : 1),
          swapped ? at(beforePrevious, column - 2) + 1 : Infinity,
        ),
      )
    }
    beforePrevious = previous
    previous = current
  }
  return at(previous, right.length)
}

const at = (row: readonly number[], column: number): number => row[column] ?? Infinity
