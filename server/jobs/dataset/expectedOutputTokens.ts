/** What JSON, names and a short question take of an example, in tokens. */
const tokensBeside = 44
/** An answer and its quote for each sentence. */
const tokensForToken = 2

/**
 * Output tokens that the examples of a chunk of so many tokens will most likely take: answer and quote are each about
 * as long as its sentences are, the longer of which there is more to ask about.
 */
export const expectedOutputTokens = (chunk: { readonly slice: string; readonly tokens: number }, examples: number): number => {
  const lengths = chunk.slice.split(/(?<=[.!?])\s+|(?<=[。！？])|\n\s*\n/u).map((sentence) => sentence.trim().length)
  const units = Math.max(1, lengths.reduce((sum, length) => sum + length, 0))
  const typical = lengths.reduce((sum, length) => sum + length * length, 0) / units
  return Math.round(examples * (tokensBeside + tokensForToken * typical * (chunk.tokens / units)))
}
