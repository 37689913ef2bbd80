import type { Usage } from '../pricing.ts'

export type Message = { readonly role: 'system' | 'user' | 'assistant'; readonly content: string }

/** One question to a model. Everything here is part of the call's fingerprint. */
export type CallRequest = {
  readonly model: string
  readonly messages: readonly Message[]
  readonly maxOutputTokens: number
  readonly temperature?: number
  readonly seed?: number
  /** Answers wanted for one call, priced together. Default 1. */
  readonly choices?: number
}

export type ProviderAnswer = {
  /** Well-formed: lone surrogates in the provider's answer have been replaced by U+FFFD. */
  readonly text: string
  readonly finishReason: string | null
  /** Null when the provider sent none, or numbers that cannot be: the call is then charged at its worst case. */
  readonly usage: Usage | null
}

/**
 * A model provider. Every adapter passes `test/contract/providerContract.ts`.
 */
export interface Provider {
  readonly name: string
  /** How long, in seconds, the provider answers a repeated idempotency key with the stored answer. 0: never. */
  readonly replaysForSeconds: number
  /** Tokens the provider adds around what it is sent, at most. */
  readonly framing: { readonly perCall: number; readonly perMessage: number }
  /** Tokens of this text for this model, or null where its tokenizer is not known. Never fewer than are billed. */
  countTokens(model: string, text: string): number | null
  /**
   * Sends the request exactly once: no retry and no redirect inside.
   * Raises `ProviderError`, which says whether the send may have been billed. When `signal` aborts or
   * `deadlineMs` (from now) has passed, it raises `timeout` with `billed: 'unknown'` at once.
   */
  complete(
    request: CallRequest,
    options: { signal: AbortSignal; idempotencyKey: string; deadlineMs: number },
  ): Promise<ProviderAnswer>
}
