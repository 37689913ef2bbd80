import type { Paint, Style } from '../paint.ts'
import { plainText } from '../plainText.ts'
import { fitting, textWidth } from '../textWidth.ts'

/** Part of a line, of one style. */
export type Span = { readonly text: string; readonly style: Style | null }

/** A line before it is painted, so that its width can be told. */
export type Line = readonly Span[]

/** Text that a terminal will not obey. */
export const span = (text: string, style: Style | null = null): Span => ({ text: plainText(text), style })

export const lineWidth = (line: Line): number => line.reduce((sum, { text }) => sum + textWidth(text), 0)

/** The line as far as it has room; `…` stands for what is left out. */
export const cut = (line: Line, width: number): Line => {
  if (fits(line, width)) return line
  const kept: Span[] = []
  let left = width - 1
  for (const each of line) {
    const text = fitting(each.text, left)
    kept.push({ ...each, text })
    left -= textWidth(text)
    if (text !== each.text) break
  }
  return width < 1 ? [] : [...kept, { text: '…', style: null }]
}

/** Looks no further than it must: a text may be much longer than any line. */
const fits = (line: Line, width: number): boolean => {
  let left = width
  return line.every(({ text }) => {
    const kept = fitting(text, left)
    left -= textWidth(kept)
    return kept === text
  })
}

/** As many of the parts as have room, the first in any case: the most important comes first. */
export const joined = (parts: readonly Line[], width: number, separator = ' · '): Line => {
  const [first = [], ...others] = parts.filter((part) => part.some(({ text }) => text !== ''))
  let line = cut(first, width)
  for (const part of others) {
    const longer = [...line, span(separator, 'dim'), ...part]
    if (!fits(longer, width)) break
    line = longer
  }
  return line
}

export const painted = (line: Line, paint: Paint): string =>
  line.map(({ text, style }) => (style === null || text === '' ? text : paint(text, style))).join('')
