import type { Block } from '../parsedText.ts'
import { cutAt, type TextRange, windowsOf } from './textRange.ts'

type Kind = Block['kind']

const sentence = /[.!?…]["'”’)\]]*\s+|[。！？]["”’）」』]*/gu
const line = /\n/g

/** Where a block is best cut, best first. */
const seams: Readonly<Record<Kind, readonly RegExp[]>> = {
  heading: [sentence, line],
  paragraph: [sentence, line],
  quote: [sentence, line],
  list: [line, sentence],
  table: [line],
  code: [line],
}

/** The range cut at the best seams of its kind that it has: one range where it has none. */
export const cutOnce = (text: string, range: TextRange, kind: Kind): readonly TextRange[] => {
  for (const seam of seams[kind]) {
    const parts = cutAt(text, range, seam)
    if (parts.length > 1) return parts
  }
  return [range]
}

/** UTF-16 units for each unit of size that nothing of use has more of: it is cut without being measured. */
const unitsMaxOfSize = 16

export type Measured = TextRange & { readonly size: number }

/**
 * The range in parts of at most `sizeMax`, cut no finer than that takes; between words where there is no better
 * place. The parts are in order and trimmed, and hold all that is not white space. `sizeOf` must not be more than
 * three for each UTF-16 unit.
 */
export function* divided(
  text: string,
  range: TextRange & { readonly kind: Kind },
  measure: { readonly sizeMax: number; sizeOf(slice: string): number },
): Generator<Measured> {
  const { start, end, kind } = range
  const { sizeMax, sizeOf } = measure
  if (end - start <= sizeMax * unitsMaxOfSize) {
    const size = sizeOf(text.slice(start, end))
    if (size <= sizeMax) {
      yield { start, end, size }
      return
    }
  }
  const parts = cutOnce(text, range, kind)
  if (parts.length > 1) {
    for (const part of parts) yield* divided(text, { ...part, kind }, measure)
    return
  }
  for (const window of windowsOf(text, range, Math.max(2, Math.floor(sizeMax / 3)))) {
    const slice = text.slice(window.start, window.end)
    // Without a seam windows come to more together than one by one: each counts for the most it can.
    yield { ...window, size: /\s/.test(slice) ? sizeOf(slice) : Buffer.byteLength(slice) }
  }
}
