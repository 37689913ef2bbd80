export type HtmlToken =
  | { readonly kind: 'text'; readonly raw: string }
  | { readonly kind: 'open'; readonly tag: string; readonly attributes: string; readonly isClosed: boolean }
  | { readonly kind: 'close'; readonly tag: string }

/** A tag with its attributes; quotes count only after `=`. It never fails once it has begun, so it is linear. */
const tagOrDeclaration = /<(?:[!?][^>]*|(\/?)([a-z][^\s/>]*)((?:[^>=]+|=\s*(?:"[^"]*"|'[^']*')?)*))(?:>|$)/iy

/** What they hold is no markup. */
const rawTags = new Set(['script', 'style', 'title', 'textarea', 'xmp', 'iframe', 'noembed', 'noframes'])

/**
 * Cuts HTML into tags and what stands between, without comments. In one pass and without a copy: a document of any
 * size takes little more than itself. What is begun and never ended (a comment, a script) counts as not begun, so that
 * nothing after it is lost.
 */
export function* htmlTokens(html: string): Generator<HtmlToken> {
  const lower = (text: string): string => text.toLowerCase()
  const ends = endFinder(html)
  let at = 0
  for (let next = html.indexOf('<'); next !== -1; next = html.indexOf('<', next)) {
    if (html.startsWith('<!--', next)) {
      const end = ends('-->', next + 2)
      if (next > at) yield { kind: 'text', raw: html.slice(at, next) }
      next = at = end ?? next + 4
      continue
    }
    tagOrDeclaration.lastIndex = next
    const [whole, slash, name, attributes = ''] = tagOrDeclaration.exec(html) ?? []
    if (whole === undefined) {
      next += 1
      continue
    }
    if (next > at) yield { kind: 'text', raw: html.slice(at, next) }
    next = at = next + whole.length
    if (name === undefined) continue
    const tag = lower(name)
    if (slash === '/') yield { kind: 'close', tag }
    else if (!rawTags.has(tag)) yield { kind: 'open', tag, attributes, isClosed: attributes.endsWith('/') }
    else {
      const end = ends(`</${tag}`, next)
      if (end === null) continue
      yield { kind: 'open', tag, attributes, isClosed: false }
      const raw = html.slice(next, end - tag.length - 2)
      if (raw !== '') yield { kind: 'text', raw }
      next = at = end - tag.length - 2
    }
  }
  if (at < html.length) yield { kind: 'text', raw: html.slice(at) }
}

/** Where the mark next ends, in any case of letters; it is not looked for again once there is none. */
const endFinder = (html: string) => {
  const gone = new Set<string>()
  return (mark: string, from: number): number | null => {
    if (gone.has(mark)) return null
    const pattern = new RegExp(mark.startsWith('</') ? `${mark}(?=[\\s/>])` : mark, 'gi')
    pattern.lastIndex = from
    if (pattern.test(html)) return pattern.lastIndex
    gone.add(mark)
    return null
  }
}
