import type { Material } from './offlineMaterial.ts'

/**
 * JSON of the shape of `shape`, its strings filled from the material; its outermost arrays have `items` entries, each
 * of the shape that stands in its place.
 */
export const filledJson = (shape: unknown, material: Material, items: number): unknown =>
  fill(shape, '', 0, { material, items })

type Source = { readonly material: Material; readonly items: number | null }

const fill = (shape: unknown, name: string, nth: number, source: Source): unknown => {
  if (Array.isArray(shape)) {
    const inside = { ...source, items: null }
    const entryAt = (index: number): unknown => shape[index % Math.max(1, shape.length)] ?? ''
    return Array.from({ length: source.items ?? shape.length }, (_, index) => fill(entryAt(index), name, nth + index, inside))
  }
  if (typeof shape === 'object' && shape !== null) {
    return Object.fromEntries(Object.entries(shape).map(([key, value]) => [key, fill(value, key, nth, source)]))
  }
  return typeof shape === 'string' ? filledString(shape, name, nth, source.material) : shape
}

const filledString = (shape: string, name: string, nth: number, material: Material): string => {
  const sentence = pick(material.sentences, nth) ?? ''
  const alternatives = shape.split('|')
  if (alternatives.length > 1) return (pick(alternatives, nth) ?? '').trim()
  // What sort of entry is wanted is for the prompt to say.
  if (/^(?:family|kind|type)$/i.test(name) && shape !== '') return shape
  if (/id$/i.test(name)) return String(nth + 1)
  if (/question|query|instruction|prompt|input/i.test(name)) return questionOf(sentence, nth, material)
  if (/title|topic|term|keyword|tag|label|category|name/i.test(name)) return pick(material.terms, nth) ?? ''
  return sentence
}

/** About a word of the sentence that answers it, so that the pair belongs together. */
const questionOf = (sentence: string, nth: number, material: Material): string => {
  const lower = sentence.toLowerCase()
  const own = material.terms.filter((term) => lower.includes(term))
  const [subject = 'this', other] = own.length > 0 ? own : material.terms.slice(nth)
  return other === undefined
    ? `What is known about ${subject}?`
    : `What is known about ${subject} and ${other}?`
}

const pick = (list: readonly string[], nth: number): string | undefined => list[nth % Math.max(1, list.length)]
