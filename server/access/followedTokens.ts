import { StoreUnavailable } from '../../domain/errors.ts'
import type { Position } from '../../domain/ports/eventStore.ts'
import type { Telemetry } from '../telemetry.ts'
import { accessStream } from './accessEvents.ts'
import { noTokens, type StoredToken, type Tokens } from './tokens.ts'
import { readTokens, type TokenStreaming } from './tokenStream.ts'

export type TokenFollowing = TokenStreaming & { readonly log: Pick<Telemetry, 'trouble' | 'fault'> }

export type FollowedTokens = {
  /** Reads the stream once and follows it from then on. Raises `StoreUnavailable`; asked again, it tries again. */
  ready(): Promise<void>
  /** As this process knows them at this moment; nothing before `ready`. */
  now(): Tokens
  /** What this process has written itself, or read again: known at once. */
  adopt(tokens: Tokens): void
  /** Aborts once the token ends, or this is closed. */
  until(token: StoredToken): AbortSignal
  close(): Promise<void>
}

const resubscribeMs = 200
// The wall clock may jump, so an expiry is looked at again and again.
const lookMsMax = 1_000

/** The tokens in memory, so that to check one asks no store, kept up with what any process writes. */
export const followedTokens = (deps: TokenFollowing): FollowedTokens => {
  const { events, clock, log } = deps
  const closing = new AbortController()
  const watched = new Map<string, AbortController>()
  let tokens = noTokens
  let starting: Promise<void> | null = null
  let following: Promise<void> = Promise.resolve()

  const end = (id: string, why: 'revoked' | 'expired' | 'closed'): void => {
    watched.get(id)?.abort(why)
    watched.delete(id)
  }

  const adopt = (next: Tokens): void => {
    if (next.revision <= tokens.revision) return
    tokens = next
    for (const id of watched.keys()) if (tokens.byId.get(id)?.revokedAt !== null) end(id, 'revoked')
  }

  const follow = async (after: Position): Promise<void> => {
    let position = after
    const { signal } = closing
    while (!signal.aborted) {
      try {
        for await (const delivery of events.subscribe({ after: position, filter: { streamPrefix: accessStream }, signal })) {
          if (delivery.kind === 'event') adopt(await readTokens(events, tokens))
          position = delivery.kind === 'event' ? delivery.event.position : delivery.position
        }
      } catch (error) {
        if (error instanceof StoreUnavailable) log.trouble('following the tokens', error)
        else log.fault('following the tokens', error)
      }
      await clock.sleep(resubscribeMs, signal)
    }
  }

  const start = async (): Promise<void> => {
    // What is written meanwhile is met again behind this place.
    const head = await events.head()
    adopt(await readTokens(events))
    following = follow(head)
  }

  const endAt = async (expiresAt: string, id: string, signal: AbortSignal): Promise<void> => {
    for (;;) {
      const leftMs = Date.parse(expiresAt) - clock.now()
      if (signal.aborted) return
      if (leftMs <= 0) return end(id, 'expired')
      await clock.sleep(Math.min(leftMs, lookMsMax), signal)
    }
  }

  return {
    ready: () =>
      (starting ??= start().catch((error: unknown) => {
        starting = null
        throw error
      })),
    now: () => tokens,
    adopt,
    until(token) {
      if (closing.signal.aborted) return closing.signal
      const known = watched.get(token.id)
      if (known !== undefined) return known.signal
      const watch = new AbortController()
      watched.set(token.id, watch)
      if (token.expiresAt !== null) void endAt(token.expiresAt, token.id, watch.signal)
      return watch.signal
    },
    async close() {
      closing.abort('closed')
      for (const id of watched.keys()) end(id, 'closed')
      await following
    },
  }
}
