export type CountTokens = (text: string) => number

/**
 * Counts tokens by one public encoding, o200k_base, whatever the provider counts by: chunks are the same everywhere.
 * The vocabulary takes some 150 ms to load, once. Counting takes time in proportion to the text.
 */
export const tokenCounter = async (): Promise<CountTokens> => {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base')
  return (text) => {
    let tokens = 0
    let from = 0
    for (const run of text.matchAll(seamless)) {
      tokens += countTokens(text.slice(from, run.index), asText) + Buffer.byteLength(run[0])
      from = run.index + run[0].length
    }
    return tokens + countTokens(text.slice(from), asText)
  }
}

// Merging takes quadratic time in a piece without a seam, so such a run counts as its bytes: never fewer than its tokens.
// A run of megabytes is taken piece by piece, since one match of it would overflow the stack.
const seamless = /[\p{L}\p{M}]{256,4096}|\s{256,4096}|[^\s\p{L}\p{N}]{256,4096}/gu

// Text that spells a special token is text all the same.
const asText = { disallowedSpecial: new Set<string>() }
