import { isBlockTag } from './lineWriter.ts'

const cells = ['td', 'th']
const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
const parts = ['thead', 'tbody', 'tfoot']

type Rule = { readonly ended: readonly string[]; readonly within: readonly string[] }

/** Elements that end where one of these begins, unless one of `within` began between them. */
const rules: Readonly<Record<string, Rule>> = {
  li: { ended: ['li'], within: ['ul', 'ol', 'menu', 'table'] },
  dt: { ended: ['dt', 'dd'], within: ['dl', 'table'] },
  dd: { ended: ['dt', 'dd'], within: ['dl', 'table'] },
  option: { ended: ['option'], within: ['select', 'table'] },
  td: { ended: cells, within: ['tr', 'table'] },
  th: { ended: cells, within: ['tr', 'table'] },
  tr: { ended: ['tr', 'caption'], within: ['table'] },
  ...Object.fromEntries(parts.map((tag) => [tag, { ended: [...parts, 'tr', 'caption'], within: ['table'] }])),
  ...Object.fromEntries(headings.map((tag) => [tag, { ended: headings, within: ['td', 'th', 'li', 'table'] }])),
}

/** Tags may be named like anything that an object has. */
const endedBy = new Map(Object.entries(rules))

const tableTags = new Set(['tr', ...cells, ...parts, 'caption'])
const roots = new Set(['html', 'body', 'table'])

/**
 * The elements that are open, as a browser would have them, whatever tags were left out. `ended` is called for each that
 * ends, the innermost first. Depth costs no time.
 */
export const htmlNesting = (ended: (tag: string) => void) => {
  const open: string[] = []
  /** By tag the place of its innermost element in `open`, and at each place that of the next one further out. */
  const places = new Map<string, number>()
  const further: number[] = []
  const blocks: number[] = []

  const innermost = (tags: readonly string[]): number =>
    tags.reduce((found, tag) => Math.max(found, places.get(tag) ?? -1), -1)
  const innermostBlock = (): number => blocks.at(-1) ?? -1

  const endInnermost = (): void => {
    const tag = open.pop() ?? ''
    const place = further.pop() ?? -1
    if (place === -1) places.delete(tag)
    else places.set(tag, place)
    if (isBlockTag(tag)) blocks.pop()
    ended(tag)
  }
  /** Where an end tag does not reach beyond: a stray one in a cell does not end the table. */
  const barrierOf = (tag: string): number => {
    if (roots.has(tag)) return -1
    if (tableTags.has(tag)) return innermost(['table'])
    return isBlockTag(tag) ? innermost(['table', 'caption', ...cells]) : Math.max(innermost(cells), innermostBlock())
  }
  /** Ends none if `barrier` stands further in. */
  const endAt = (place: number, barrier: number): boolean => {
    if (place === -1 || place < barrier) return false
    while (open.length > place) endInnermost()
    return true
  }

  return {
    /** Ends what ends where such a tag begins. */
    makeWay: (tag: string): void => {
      const rule = endedBy.get(tag)
      if (rule !== undefined && endAt(innermost(rule.ended), innermost(rule.within))) return
      // A paragraph holds no blocks.
      if (isBlockTag(tag)) endAt(innermost(['p']), innermostBlock())
    },
    open: (tag: string): void => {
      further.push(places.get(tag) ?? -1)
      places.set(tag, open.length)
      if (isBlockTag(tag)) blocks.push(open.length)
      open.push(tag)
    },
    /** Tells whether it ended anything. */
    close: (tag: string): boolean => endAt(innermost([tag]), barrierOf(tag)),
    end: (): void => void endAt(0, 0),
  }
}
