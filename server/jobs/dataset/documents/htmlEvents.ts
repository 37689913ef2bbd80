import type { HTMLElement, Node } from 'node-html-parser'

/** What is met in a document, in its order. Every element that is opened is closed. */
export type HtmlEvents = {
  /** Tags and names of attributes are in lower case. */
  open(tag: string, attributes: Readonly<Record<string, string>>): void
  /** With entities decoded. */
  text(text: string): void
  close(tag: string): void
}

/** None of it is text. Scripts may hold tags in strings, so they go before tags are looked for. */
const unread = /<!--[\s\S]*?(?:-->|$)|<(?:!doctype\b|\?)[^>]*>|<(script|style)\b[^>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi

/** Tells the document's elements and texts one after another. Takes any nesting, and closes what is left open. */
export const htmlEvents = async (html: string, events: HtmlEvents): Promise<void> => {
  const { HTMLElement, TextNode, parse } = await import('node-html-parser')
  const root = parse(html.replace(unread, ' '), {
    comment: false,
    lowerCaseTagName: true,
    blockTextElements: {},
    // The library would move what such elements hold, in quadratic time.
    parseNoneClosedTags: true,
    closeAllByClosing: true,
  })
  // A stack of its own: a document may be nested deeper than calls can be.
  const open: { readonly tag: string; readonly nodes: readonly Node[]; next: number }[] = []
  const enter = (element: HTMLElement): void => {
    open.push({ tag: element.rawTagName ?? '', nodes: element.childNodes, next: 0 })
  }
  enter(root)
  for (let current = open.at(-1); current !== undefined; current = open.at(-1)) {
    const node = current.nodes.at(current.next)
    current.next += 1
    if (node === undefined) {
      open.pop()
      if (open.length > 0) events.close(current.tag)
    } else if (node instanceof HTMLElement) {
      events.open(node.rawTagName, node.rawAttrs === '' ? {} : lowered(node.attributes))
      enter(node)
    } else if (node instanceof TextNode) {
      events.text(node.text)
    }
  }
}

const lowered = (attributes: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name.toLowerCase(), value]))
