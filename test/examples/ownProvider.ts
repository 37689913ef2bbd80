import type { Provider } from '../../domain/ports/provider.ts'

// region provider
/** Answers every question with its last word; a token a character. */
export const echoProvider: Provider = {
  name: 'echo',
  replaysForSeconds: 0,
  framing: { perCall: 0, perMessage: 0 },
  countTokens: (_model, text) => text.length,
  async complete({ messages }) {
    const said = messages.map((message) => message.content).join(' ')
    const text = said.split(' ').at(-1) ?? ''
    const usage = { inputTokens: said.length, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: text.length }
    return { text, finishReason: 'stop', usage }
  },
}
// endregion provider
