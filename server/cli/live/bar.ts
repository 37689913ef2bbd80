import type { Style } from '../paint.ts'
import { type Line, span } from './line.ts'

/** A bar of so many columns, filled by what is done of a total. */
export const progressBar = (done: number, total: number, columns: number): Line => {
  const share = total <= 0 ? 1 : Math.min(1, done / total)
  const filled = Math.floor(share * columns)
  const isBetween = filled < columns && share > 0
  return [
    span(`${'━'.repeat(filled)}${isBetween ? '╸' : ''}`, 'cyan'),
    span('─'.repeat(columns - filled - (isBetween ? 1 : 0)), 'dim'),
  ]
}

export type Part = { readonly amount: number; readonly glyph: string; readonly style: Style }

/** A bar of parts of a whole: each that is anything is seen, as far as there is room. */
export const partsBar = (parts: readonly Part[], whole: number, columns: number): Line => {
  let left = columns
  const spans = parts.map(({ amount, glyph, style }) => {
    const wanted = amount <= 0 ? 0 : Math.max(1, Math.round((amount / whole) * columns))
    const width = Math.min(left, wanted)
    left -= width
    return span(glyph.repeat(width), style)
  })
  return [...spans, span('─'.repeat(left), 'dim')]
}
