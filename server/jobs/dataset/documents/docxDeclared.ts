import type { Declared } from '../parsedText.ts'
import { htmlEvents, type Attributes, type HtmlEvents } from './htmlEvents.ts'

/** What a docx says of itself: its core properties, and those that somebody added by name. */
export const docxDeclared = async (parts: ReadonlyMap<string, string>): Promise<Declared> => {
  const declared = new Map<string, string>()
  const core = parts.get('docProps/core.xml') ?? ''
  await eachValue(core, (tag, value) => declared.set(tag.replace(/^.*:/, ''), value))
  let name = ''
  await eachValue(
    parts.get('docProps/custom.xml') ?? '',
    (_tag, value) => name !== '' && declared.set(name, value),
    (attributes) => {
      name = attributes.get('name')?.trim().toLowerCase() ?? name
    },
  )
  return Object.fromEntries(declared)
}

const eachValue = async (
  xml: string,
  found: (tag: string, value: string) => void,
  opened: (attributes: Attributes) => void = () => {},
): Promise<void> => {
  let value = ''
  const events: HtmlEvents = {
    open: (_tag, attributes) => {
      value = ''
      opened(attributes)
    },
    text: (text) => {
      value += text
    },
    close: (tag) => {
      if (value.trim() !== '') found(tag, value.trim())
      value = ''
    },
  }
  await htmlEvents(xml, events, { isXml: true })
}

/** The paragraphs of a header or a footer. */
export const docxParagraphs = async (xml: string): Promise<readonly string[]> => {
  const paragraphs: string[] = []
  let paragraph = ''
  let isText = false
  const events: HtmlEvents = {
    open: (tag) => {
      if (tag === 'w:t') isText = true
      if (tag === 'w:tab' || tag === 'w:br') paragraph += ' '
    },
    text: (text) => {
      if (isText) paragraph += text
    },
    close: (tag) => {
      if (tag === 'w:t') isText = false
      if (tag !== 'w:p') return
      if (paragraph.trim() !== '') paragraphs.push(paragraph.trim())
      paragraph = ''
    },
  }
  await htmlEvents(xml, events, { isXml: true })
  return paragraphs
}
