/** A parser of Markdown takes more than twice the time for twice the text, so it gets pieces of about this size. */
const charactersWanted = 16_384
/** Here a list, a table or a paragraph is cut between two lines. */
const charactersMax = 65_536
/** Here even a fenced block is. */
const fencedMax = 1_048_576

export type Piece = { readonly start: number; readonly end: number }

const fenceOf = (line: string): string | null => /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1] ?? null
const closes = (line: string, fence: string): boolean => {
  const closing = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line)?.[1]
  return closing !== undefined && closing[0] === fence[0] && closing.length >= fence.length
}
/** After an empty line these begin a block of their own, whatever stood before. */
const beginsBlock = /^(?![ \t]|[-*+](?:[ \t]|$)|\d{1,9}[.)](?:[ \t]|$))\S/

/** Cuts a Markdown text between top-level blocks, as far as there are any. The pieces make up the whole text. */
export function* markdownPieces(text: string): Generator<Piece> {
  let start = 0
  let fence: string | null = null
  let afterEmpty = false
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf('\n', at)
    const lineEnd = found === -1 ? text.length : found
    const line = text.slice(at, lineEnd)
    const length = at - start
    const isBetween = length >= charactersWanted && fence === null && afterEmpty && beginsBlock.test(line)
    if (isBetween || length >= (fence === null ? charactersMax : fencedMax)) {
      yield { start, end: at }
      start = at
    }
    if (fence === null) fence = fenceOf(line)
    else if (closes(line, fence)) fence = null
    afterEmpty = line.trim() === ''
    at = lineEnd + 1
  }
  if (start < text.length) yield { start, end: text.length }
}
