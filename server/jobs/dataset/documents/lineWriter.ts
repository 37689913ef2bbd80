import type { Attributes } from './htmlEvents.ts'

const blockTags = new Set(
  (
    'address article aside blockquote body caption center details dialog dir div dl dt fieldset figcaption figure footer ' +
    'form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend main menu nav optgroup option p pre search section ' +
    'select summary table tbody tfoot thead ul ol'
  ).split(' '),
)

/** Whether a tag begins a new line wherever it stands. */
export const isBlockTag = (tag: string): boolean => blockTags.has(tag)

/**
 * Lays out what stands in one block of an HTML document: white space is collapsed outside of `pre`, items of a list and
 * rows of a table get lines of their own, and ` | ` stands between cells.
 */
export const lineWriter = () => {
  let parts: string[] = []
  let hasWords = false
  let isRaw = false
  /** Nothing but a marker stands in the line. */
  let fresh = true
  let afterSpace = true
  let preDepth = 0
  let tableDepth = 0
  let cells = 0
  /** The number of the next item; null where items have none. */
  const lists: (number | null)[] = []

  const put = (part: string): void => {
    if (part === '') return
    parts.push(part)
    afterSpace = part.endsWith(' ') || part.endsWith('\n')
  }
  const newLine = (): void => {
    if (!fresh) put('\n')
    fresh = true
  }
  const marker = (): string => {
    const nth = lists.at(-1) ?? null
    if (nth !== null) lists[lists.length - 1] = nth + 1
    return `${'  '.repeat(Math.min(Math.max(lists.length - 1, 0), 20))}${nth === null ? '-' : `${nth}.`} `
  }
  const cell = (): void => {
    if (cells > 0) put(afterSpace ? '| ' : ' | ')
    cells += 1
  }
  const breakBlock = (): void => {
    if (tableDepth === 0) newLine()
    else if (!afterSpace) put(' ')
  }

  return {
    write: (text: string): void => {
      if (!hasWords && text.trim() !== '') hasWords = true
      if (preDepth > 0) {
        isRaw = true
        put(text)
        fresh = false
        return
      }
      const collapsed = text.replace(/[ \t\n\f\r]+/g, ' ')
      const shown = afterSpace && collapsed.startsWith(' ') ? collapsed.slice(1) : collapsed
      put(shown)
      if (shown !== '' && shown !== ' ') fresh = false
    },
    open: (tag: string, attributes: Attributes): void => {
      if (tag === 'br') put('\n')
      else if (tag === 'tr') {
        newLine()
        cells = 0
      } else if (tag === 'td' || tag === 'th') cell()
      else if (tag === 'li' || tag === 'dd') {
        newLine()
        put(tag === 'li' ? marker() : '  ')
      } else if (isBlockTag(tag)) breakBlock()
      if (tag === 'ol' || tag === 'ul') lists.push(tag === 'ul' ? null : (firstNumber(attributes.get('start')) ?? 1))
      if (tag === 'table') tableDepth += 1
      if (tag === 'pre') preDepth += 1
    },
    close: (tag: string): void => {
      if (tag === 'ol' || tag === 'ul') lists.pop()
      if (tag === 'table') tableDepth -= 1
      if (tag === 'pre') preDepth -= 1
      if (tag === 'tr') newLine()
      else if (isBlockTag(tag)) breakBlock()
    },
    /** What was written since the last time; markers alone are nothing. */
    take: (): string => {
      const text = hasWords ? parts.join('') : ''
      const taken = isRaw ? text : text.replace(/ +(?=\n)/g, '').replace(/\n{3,}/g, '\n\n')
      parts = []
      hasWords = false
      isRaw = false
      fresh = true
      afterSpace = true
      cells = 0
      return taken
    },
  }
}

const firstNumber = (start: string | undefined): number | null =>
  start !== undefined && /^-?\d{1,9}$/.test(start) ? Number(start) : null
