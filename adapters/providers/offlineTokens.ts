/**
 * The offline provider's tokens: up to six letters, up to three digits or one other character, together with the white
 * space before it; white space at the end is one more. Put one after the other, they are the text.
 */
const token = /\s*(?:[\p{L}\p{M}]{1,6}|\p{N}{1,3}|\S)|\s+$/gu

export const offlineTokens = (text: string): number => {
  let tokens = 0
  for (const _ of text.matchAll(token)) tokens += 1
  return tokens
}

/** The longest start of `text` of at most `tokensMax` tokens. */
export const withinTokens = (text: string, tokensMax: number): string => {
  let tokens = 0
  for (const match of text.matchAll(token)) {
    if (tokens === tokensMax) return text.slice(0, match.index)
    tokens += 1
  }
  return text
}
