import type { Block, Page, Structure } from '../parsedText.ts'

/** Puts a text together block by block, an empty line between two, and keeps where each of them stands. */
export const textBuilder = () => {
  const parts: string[] = []
  const blocks: Block[] = []
  const pages: Page[] = []
  let length = 0

  const append = (part: string): void => {
    parts.push(part)
    length += part.length
  }

  return {
    /** Adds nothing for what is only white space. */
    add: (kind: Block['kind'], content: string, level?: number): void => {
      const text = printable(content).replace(kind === 'code' ? /^\s*\n|\s+$/g : /^\s+|\s+$/g, '')
      if (text === '') return
      if (length > 0) append('\n\n')
      blocks.push({ kind, ...(level === undefined ? {} : { level }), start: length, end: length + text.length })
      append(text)
    },
    /** A page with what `fill` adds. A page without text stands empty before the next one. */
    page: (number: number, fill: () => void): void => {
      const before = blocks.length
      fill()
      pages.push({ number, start: blocks[before]?.start ?? length, end: length })
    },
    built: (): Structure & { readonly text: string } => ({
      text: parts.join(''),
      blocks,
      pages,
    }),
  }
}

/** Well-formed and without control characters, whatever a document has for text. */
const printable = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/\p{Surrogate}|[\0-\x08\x0e-\x1f\x7f]/gu, '\ufffd')
