/** What a text encloses in tags (`<document>…</document>`) or `"""`, and the rest of it. */
export type EnclosedText = { readonly enclosed: readonly string[]; readonly rest: string }

// Each tag that is never closed costs a search to the end of the text.
const unclosedMax = 20

export const enclosedText = (text: string): EnclosedText => {
  const enclosed: string[] = []
  const rest: string[] = []
  const unclosed = new Set<string>()
  let from = 0
  for (const opening of text.matchAll(/<([a-z][\w-]{0,40})>|"""/gi)) {
    const closing = opening[1] === undefined ? '"""' : `</${opening[1]}>`
    if (opening.index < from || unclosed.has(closing)) continue
    if (unclosed.size === unclosedMax) break
    const start = opening.index + opening[0].length
    const end = text.indexOf(closing, start)
    if (end === -1) {
      unclosed.add(closing)
      continue
    }
    rest.push(text.slice(from, opening.index))
    enclosed.push(text.slice(start, end))
    from = end + closing.length
  }
  return { enclosed, rest: [...rest, text.slice(from)].join(' ') }
}
