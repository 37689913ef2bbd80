import { isBlockTag } from './lineWriter.ts'

const cells = ['td', 'th']
const headings = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
const parts = ['thead', 'tbody', 'tfoot']

/** Elements that end where one of these begins, unless one of `within` began between them. */
const endedBy: Readonly<Record<string, { readonly ended: readonly string[]; readonly within: readonly string[] }>> = {
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

const tableTags = new Set(['tr', ...cells, ...parts, 'caption'])

/** Where an end tag does not reach beyond: a stray one in a cell does not end the table. */
const isBarrier = (of: string, tag: string): boolean => {
  if (of === 'html' || of === 'body' || of === 'table') return false
  if (tableTags.has(of)) return tag === 'table'
  if (tag === 'table' || cells.includes(tag) || tag === 'caption') return true
  return !isBlockTag(of) && isBlockTag(tag)
}

/** Browsers nest no deeper than 512. What lies further out is not looked for, so that no document takes long. */
const depthMax = 512

/**
 * The elements that are open, as a browser would have them, whatever tags were left out. Both verbs give how many of
 * the innermost ones end.
 */
export const htmlNesting = () => {
  const open: string[] = []

  const depthOf = (isWanted: (tag: string) => boolean, isEnd: (tag: string) => boolean): number => {
    for (let nth = open.length - 1; nth >= Math.max(0, open.length - depthMax); nth -= 1) {
      const tag = open[nth] ?? ''
      if (isWanted(tag)) return open.length - nth
      if (isEnd(tag)) return 0
    }
    return 0
  }

  return {
    open,
    endedByOpening: (tag: string): number => {
      const rule = endedBy[tag]
      const ended = rule === undefined ? 0 : depthOf((each) => rule.ended.includes(each), (each) => rule.within.includes(each))
      // A paragraph holds no blocks.
      return ended > 0 || !isBlockTag(tag) ? ended : depthOf((each) => each === 'p', isBlockTag)
    },
    endedByClosing: (tag: string): number => depthOf((each) => each === tag, (each) => isBarrier(tag, each)),
  }
}
