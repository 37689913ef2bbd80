import type { Message } from '../../domain/ports/provider.ts'
import { enclosedText } from './enclosedText.ts'
import { parsedJson } from './jsonField.ts'

/** A prompt taken apart: the text it is about, the JSON it wants to be answered in the shape of, and how many items. */
export type OfflinePrompt = {
  readonly text: string
  readonly wantsJson: boolean
  /** The first JSON object or array the prompt shows outside of its text. */
  readonly shape: unknown
  readonly items: number | null
}

/** The text is what stands between tags (`<document>…</document>`) or `"""`; without them, the last user message. */
export const offlinePrompt = (messages: readonly Message[]): OfflinePrompt => {
  const asked = enclosedText(messages.findLast((message) => message.role === 'user')?.content ?? '')
  const orders = messages.map((message) => enclosedText(message.content).rest).join('\n')
  const wantsJson = /\bjson\b/i.test(orders)
  const found = wantsJson ? firstJson(orders) : undefined
  return {
    text: asked.enclosed.length > 0 ? asked.enclosed.join('\n') : asked.rest.replace(found?.source ?? '', ''),
    wantsJson,
    shape: found?.value,
    items: Number(itemsAsked.exec(orders)?.[1] ?? 0) || null,
  }
}

const itemsAsked =
  /\b(\d{1,3})\s+(?:[\p{L}-]+\s+){0,3}?(?:examples?|items?|questions?|pairs?|entries|objects?|records?|rows?)\b/iu

/** A brace in prose is no JSON: after this many, none is looked for. */
const candidatesMax = 50

const firstJson = (text: string): { source: string; value: unknown } | undefined => {
  for (const opening of [...text.matchAll(/[{[]/g)].slice(0, candidatesMax)) {
    const source = balanced(text.slice(opening.index))
    const value = source === null ? undefined : parsedJson(source)
    if (source !== null && typeof value === 'object' && value !== null && Object.keys(value).length > 0) {
      return { source, value }
    }
  }
  return undefined
}

/** `text` up to the bracket that closes its first one. */
const balanced = (text: string): string | null => {
  let depth = 0
  for (const match of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[{[]|[}\]]/gs)) {
    if (match[0] === '{' || match[0] === '[') depth += 1
    if (match[0] === '}' || match[0] === ']') depth -= 1
    if (depth === 0) return text.slice(0, match.index + match[0].length)
  }
  return null
}
