import { createRequire } from 'node:module'
import { wellFormed } from './wellFormed.ts'

type Encoding = { countTokens(text: string, options: { disallowedSpecial: Set<string> }): number }
type EncodingName = 'o200k_base' | 'cl100k_base'

/**
 * Tokens of this text, or null where the model's encoding is not public. `gpt-oss` is left out on purpose: servers put
 * a long instruction of their own before its messages, and the caller's count by bytes leaves room for it.
 */
export const openaiTokens = (model: string, text: string): number | null => {
  const name = encodingOf(model)
  return name === null ? null : countedWith(loaded(name), wellFormed(text))
}

const encodingOf = (model: string): EncodingName | null => {
  const own = model.replace(/^openai\//, '').replace(/^ft:/, '')
  if (/^(?:gpt-4o|gpt-4\.\d|gpt-5|chatgpt-4o|o[1-9])(?=$|[-.:])/.test(own)) return 'o200k_base'
  if (/^(?:gpt-4|gpt-3\.5-turbo)(?=$|[-:])/.test(own)) return 'cl100k_base'
  return null
}

// A vocabulary takes some 150 ms to load: whoever counts nothing (most commands) does not wait for it.
const load = createRequire(import.meta.url)
const loaded = (name: EncodingName): Encoding => {
  const encoding: unknown =
    name === 'o200k_base' ? load('gpt-tokenizer/encoding/o200k_base') : load('gpt-tokenizer/encoding/cl100k_base')
  if (!isEncoding(encoding)) throw new Error(`gpt-tokenizer has no countTokens for ${name}`)
  return encoding
}

const isEncoding = (module: unknown): module is Encoding =>
  typeof module === 'object' && module !== null && 'countTokens' in module && typeof module.countTokens === 'function'

// Merging takes quadratic time in a piece without a seam (50 000 emoji: 25 s, with the event loop held), so such a run
// counts as its bytes, which are never fewer than its tokens.
const seamless = /[\p{L}\p{M}]{256,4096}|\s{256,4096}|[^\s\p{L}\p{N}]{256,4096}/gu

// Text that spells a special token is text to the provider too.
const asText = { disallowedSpecial: new Set<string>() }

const countedWith = (encoding: Encoding, text: string): number => {
  let tokens = 0
  let from = 0
  for (const run of text.matchAll(seamless)) {
    tokens += encoding.countTokens(text.slice(from, run.index), asText) + Buffer.byteLength(run[0])
    from = run.index + run[0].length
  }
  return tokens + encoding.countTokens(text.slice(from), asText)
}
