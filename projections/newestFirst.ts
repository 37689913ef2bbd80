import type { Position } from '../domain/ports/eventStore.ts'

const first = 0x21
const last = 0x7d
const end = '~'

/**
 * Text whose lexical order is that of the log backwards, so that a list read forwards begins with its newest entry.
 * It knows nothing of how a store spells its positions, but that they are printable ASCII: each character is
 * mirrored, and the end of the text sorts last. Raises a `RangeError` for any other character.
 */
export const newestFirst = (position: Position): string => {
  let mirrored = ''
  for (let index = 0; index < position.length; index += 1) {
    const code = position.charCodeAt(index)
    if (code < first || code > last) throw new RangeError(`position ${JSON.stringify(position)} is not printable ASCII`)
    mirrored += String.fromCharCode(first + last - code)
  }
  return mirrored + end
}
