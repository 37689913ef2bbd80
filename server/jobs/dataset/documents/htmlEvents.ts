import { htmlNesting } from './htmlNesting.ts'
import { htmlTokens } from './htmlTokens.ts'

/** What is met in a document, in its order. Every element that is opened is closed. */
export type HtmlEvents = {
  /** Tags and names of attributes are in lower case. */
  open(tag: string, attributes: Attributes): void
  /** With entities decoded. */
  text(text: string): void
  close(tag: string): void
}

/** Read when they are asked for: most of them never are. */
export type Attributes = () => Readonly<Record<string, string>>

const voidTags = new Set('area base basefont br col embed frame hr img input link meta param source track wbr'.split(' '))
/** No entities are decoded in them. */
const scripts = new Set(['script', 'style', 'xmp'])

/** Tells the document's elements and texts one after another. Takes any nesting, and closes what is left open. */
export const htmlEvents = async (html: string, events: HtmlEvents): Promise<void> => {
  const { TextNode } = await import('node-html-parser')
  const decoded = (raw: string): string => (raw.includes('&') ? new TextNode(raw).text : raw)
  const nesting = htmlNesting()
  const close = (count: number): void => {
    for (const tag of nesting.open.splice(nesting.open.length - count).toReversed()) events.close(tag)
  }

  for (const token of htmlTokens(html)) {
    if (token.kind === 'text') events.text(scripts.has(nesting.open.at(-1) ?? '') ? token.raw : decoded(token.raw))
    else if (token.kind === 'close') close(nesting.endedByClosing(token.tag))
    else {
      close(nesting.endedByOpening(token.tag))
      events.open(token.tag, () => attributesIn(token.attributes, decoded))
      if (token.isClosed || voidTags.has(token.tag)) events.close(token.tag)
      else nesting.open.push(token.tag)
    }
  }
  close(nesting.open.length)
}

const attribute = /([^\s=/"'<>][^\s=/>]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+)))?/g

const attributesIn = (source: string, decoded: (raw: string) => string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Array.from(source.matchAll(attribute), ([, name = '', double, single, bare]) => [
      name.toLowerCase(),
      decoded(double ?? single ?? bare ?? ''),
    ]),
  )
