import { EngineError, RevisionConflict } from '../../domain/errors.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import type { EventStore } from '../../domain/ports/eventStore.ts'
import type { Sha256 } from '../../domain/ports/hash.ts'
import { chainStart, seal } from '../../domain/seal.ts'
import { appendDefinitely } from '../command/appendDefinitely.ts'
import { withPatience } from '../command/withPatience.ts'
import { type AccessFact, accessSchemaVersion, accessStream } from './accessEvents.ts'
import { foldTokens, noTokens, type Tokens } from './tokens.ts'

export type TokenStreaming = { readonly events: EventStore; readonly clock: Clock; readonly sha256: Sha256 }

const pageSize = 1_000

/** What stands in the stream behind these tokens is added to them. */
export const readTokens = async (events: Pick<EventStore, 'readStream'>, before: Tokens = noTokens): Promise<Tokens> => {
  let tokens = before
  for (;;) {
    const page = await events.readStream(accessStream, { from: tokens.revision + 1, limit: pageSize })
    tokens = foldTokens(tokens, page)
    if (page.length < pageSize) return tokens
  }
}

/**
 * Records what `decide` makes of the tokens as they are now, again when somebody else was first; null records nothing.
 * Answers the tokens as they are then. Raises what `decide` raises, `newer_schema` where this program cannot read all
 * of the stream, and `StoreUnavailable` with the outcome unknown.
 */
export const recordToken = async (
  deps: TokenStreaming,
  decide: (tokens: Tokens) => AccessFact | null,
): Promise<Tokens> => {
  for (;;) {
    const tokens = await readTokens(deps.events)
    if (tokens.unread !== null) {
      throw new EngineError(
        'newer_schema',
        `the tokens have an event that this program cannot read (${tokens.unread}): change them with the program that wrote it`,
        { type: tokens.unread },
      )
    }
    const fact = decide(tokens)
    if (fact === null) return tokens
    const event = {
      stream: accessStream,
      revision: tokens.revision + 1,
      type: fact.type,
      schemaVersion: accessSchemaVersion,
      recordedAt: new Date(deps.clock.now()).toISOString(),
      data: JSON.stringify(fact.data),
      meta: JSON.stringify({ actor: 'user' }),
    }
    const sealed = seal([event], tokens.hash ?? chainStart(accessStream, deps.sha256), deps.sha256)
    const expected = tokens.revision === -1 ? 'no-stream' : tokens.revision
    try {
      await withPatience(deps.clock, (signal) => appendDefinitely(deps, { stream: accessStream, sealed, expected }, signal))
      return foldTokens(tokens, sealed)
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error
    }
  }
}
