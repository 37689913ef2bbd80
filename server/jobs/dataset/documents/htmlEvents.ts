import type { TokenizerCallbacks } from 'htmlparser2'
import { htmlNesting } from './htmlNesting.ts'

/** What is met in a document, in its order. Every element that is opened is closed. */
export type HtmlEvents = {
  /** Tags are in lower case. */
  open(tag: string, attributes: Attributes): void
  /** With entities decoded, in pieces of any length. */
  text(text: string): void
  close(tag: string): void
}

/** By their names in lower case. They are those of the next element as soon as `open` returns. */
export type Attributes = ReadonlyMap<string, string>

/** The others are not kept: a hostile tag has millions. */
const keptAttributes = new Set(['content', 'href', 'name', 'property', 'rel', 'start'])

const voidTags = new Set('area base basefont br col embed frame hr img input link meta param source track wbr'.split(' '))
/** An end tag of these that ends nothing stands for an element without content. */
const madeByEndTags = new Set(['br', 'p'])

/**
 * Tells the document's elements and texts one after another, and closes what is left open. Any nesting takes linear
 * time, for which it is kept here: the library's own parser takes as long for each tag as the document is deep.
 */
export const htmlEvents = async (source: string, events: HtmlEvents, { isXml = false } = {}): Promise<void> => {
  const { Tokenizer } = await import('htmlparser2')
  const tokenizer = new Tokenizer({ xmlMode: isXml }, elementsOf(source, events, isXml))
  tokenizer.write(source)
  tokenizer.end()
}

const elementsOf = (source: string, events: HtmlEvents, isXml: boolean): TokenizerCallbacks => {
  const nesting = htmlNesting(events.close)
  const attributes = attributeReader(source)
  let tag = ''

  const open = (isClosed: boolean): void => {
    nesting.makeWay(tag)
    events.open(tag, attributes.read)
    if (isClosed) events.close(tag)
    else nesting.open(tag)
  }

  return {
    ...attributes.callbacks,
    onopentagname: (start, end) => {
      tag = source.slice(start, end).toLowerCase()
      attributes.clear()
    },
    onopentagend: () => open(voidTags.has(tag)),
    onselfclosingtag: () => open(true),
    onclosetag: (start, end) => {
      tag = source.slice(start, end).toLowerCase()
      if (nesting.close(tag) || !madeByEndTags.has(tag)) return
      attributes.clear()
      open(true)
    },
    ontext: (start, end) => events.text(source.slice(start, end)),
    ontextentity: (codePoint) => events.text(String.fromCodePoint(codePoint)),
    oncdata: (start, end, endLength) => {
      if (isXml) events.text(source.slice(start, end - endLength))
    },
    oncomment: () => {},
    ondeclaration: () => {},
    onprocessinginstruction: () => {},
    onend: nesting.end,
  }
}

/** The first of a name counts. */
const attributeReader = (source: string) => {
  const read = new Map<string, string>()
  let name: string | null = null
  let value = ''
  const callbacks = {
    onattribname: (start: number, end: number): void => {
      const next = source.slice(start, end).toLowerCase()
      name = keptAttributes.has(next) && !read.has(next) ? next : null
    },
    onattribdata: (start: number, end: number): void => {
      if (name !== null) value += source.slice(start, end)
    },
    onattribentity: (codePoint: number): void => {
      if (name !== null) value += String.fromCodePoint(codePoint)
    },
    onattribend: (): void => {
      if (name !== null) read.set(name, value)
      value = ''
    },
  }
  return {
    read,
    callbacks,
    clear: (): void => {
      if (read.size > 0) read.clear()
    },
  }
}
