import type { Block, ParsedText } from '../parsedText.ts'
import { htmlDeclared } from './htmlDeclared.ts'
import { htmlEvents, type HtmlEvents } from './htmlEvents.ts'
import { isBlockTag, lineWriter } from './lineWriter.ts'
import { textBuilder } from './textBuilder.ts'

/** Not text, or not written for readers. */
const unread = new Set(['script', 'style', 'template', 'title', 'iframe', 'object', 'audio', 'video', 'canvas'])
const media = new Set(['img', 'svg', 'picture', 'iframe', 'object', 'audio', 'video', 'canvas'])

const wholes: ReadonlyMap<string, Block['kind']> = new Map([
  ['ul', 'list'],
  ['ol', 'list'],
  ['dl', 'list'],
  ['table', 'table'],
  ['blockquote', 'quote'],
  ['pre', 'code'],
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((tag) => [tag, 'heading'] as const),
])

/**
 * An HTML document as text. A heading, list, table, quote or `pre` is one block with all that is in it; of what is left
 * each paragraph is one.
 */
export const htmlText = async (html: string): Promise<ParsedText> => {
  const builder = textBuilder()
  const declared = htmlDeclared()
  const reader = blockReader(builder.add)
  await htmlEvents(html, {
    open: (tag, attributes) => {
      declared.open(tag, attributes)
      reader.open(tag, attributes)
    },
    text: (text) => {
      declared.text(text)
      reader.text(text)
    },
    close: (tag) => {
      declared.close(tag)
      reader.close(tag)
    },
  })
  const notes = reader.end()
  return { ...builder.built(), declared: declared.declared(), notes }
}

const blockReader = (
  add: (kind: Block['kind'], text: string, level?: number) => void,
): HtmlEvents & { end(): readonly string[] } => {
  const line = lineWriter()
  let kind: Block['kind'] = 'paragraph'
  let level: number | undefined
  /** Elements that are open, from the one that is not read, or that is one block. */
  let unreadDepth = 0
  let wholeDepth = 0
  let dropped = 0

  const flush = (nextKind: Block['kind'] = 'paragraph', nextLevel?: number): void => {
    add(kind, line.take(), level)
    kind = nextKind
    level = nextLevel
  }

  return {
    open: (tag, attributes) => {
      if (media.has(tag)) dropped += 1
      if (unreadDepth > 0 || unread.has(tag)) {
        unreadDepth += 1
        return
      }
      const whole = wholes.get(tag)
      const isHeading = whole === 'heading'
      // A heading that was not closed ends where the next one begins.
      if (wholeDepth > 0 && !(isHeading && kind === 'heading')) wholeDepth += 1
      else if (whole !== undefined) {
        flush(whole, isHeading ? Number(tag.slice(1)) : undefined)
        wholeDepth = 1
      } else if (isBlockTag(tag)) flush()
      line.open(tag, attributes)
    },
    text: (text) => {
      if (unreadDepth === 0) line.write(text)
    },
    close: (tag) => {
      if (unreadDepth > 0) {
        unreadDepth -= 1
        return
      }
      line.close(tag)
      if (wholeDepth > 0) wholeDepth -= 1
      if (wholeDepth === 0 && (wholes.has(tag) || isBlockTag(tag))) flush()
    },
    end: () => {
      flush()
      return dropped === 0 ? [] : [`its images and media are left out (${dropped})`]
    },
  }
}
