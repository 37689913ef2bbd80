import type { CallRequest } from '../../domain/ports/provider.ts'
import { filledJson } from './offlineJson.ts'
import { materialOf, type Material } from './offlineMaterial.ts'
import { offlinePrompt } from './offlinePrompt.ts'
import { offlineTokens, withinTokens } from './offlineTokens.ts'
import { wellFormed } from './wellFormed.ts'

const itemsMax = 100
const sentencesMax = 3
const termsMax = 5

/**
 * An answer taken out of the prompt: its most telling sentences, or JSON in the shape the prompt shows. The same
 * request always gets the same text. `finishReason` is `length` where it was cut at `maxOutputTokens`.
 */
export const offlineAnswer = (request: CallRequest): { text: string; finishReason: 'stop' | 'length' } => {
  const prompt = offlinePrompt(request.messages)
  const material = turned(materialOf(wellFormed(prompt.text)), request.seed ?? 0)
  const whole = prompt.wantsJson
    ? jsonAnswer(prompt.shape ?? { answer: '', keyTerms: [''] }, material, prompt.items, request.maxOutputTokens)
    : proseAnswer(material)
  const text = withinTokens(whole, request.maxOutputTokens)
  return { text, finishReason: text === whole ? 'stop' : 'length' }
}

/** As many items as were asked for, or as many fewer as fit: half an item is none. */
const jsonAnswer = (shape: unknown, material: Material, asked: number | null, tokensMax: number): string => {
  const shown = Array.isArray(shape) ? shape.length : Math.max(1, Math.min(termsMax, material.terms.length))
  for (let items = Math.min(itemsMax, asked ?? shown); ; items -= 1) {
    const text = JSON.stringify(filledJson(shape, material, items))
    if (items <= 1 || offlineTokens(text) <= tokensMax) return text
  }
}

const proseAnswer = (material: Material): string => {
  const terms = material.terms.slice(0, termsMax).join(', ')
  const sentences = material.sentences.slice(0, sentencesMax).join(' ')
  if (sentences === '') return 'The prompt holds no text to answer from.'
  return terms === '' ? sentences : `${sentences}\n\nKey terms: ${terms}.`
}

/** Another seed starts at another sentence. */
const turned = (material: Material, seed: number): Material => {
  const { sentences, terms } = material
  const start = sentences.length === 0 ? 0 : Math.abs(Math.trunc(seed)) % sentences.length
  return { sentences: [...sentences.slice(start), ...sentences.slice(0, start)], terms }
}
