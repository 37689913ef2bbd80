import { errorOf } from '../../domain/errorOf.ts'
import { EngineError } from '../../domain/errors.ts'
import { followEvents } from '../client/followEvents.ts'
import type { RestClientParts } from '../client/restClient.ts'
import type { LiveFrame, LiveQuery } from '../engine.ts'

/** See `Engine.live`: over a socket, and over any loss of it. */
export async function* liveFrames({ url, token }: RestClientParts, query: LiveQuery, signal: AbortSignal): AsyncGenerator<LiveFrame> {
  try {
    yield* followEvents({ url, ...(token === null ? {} : { token }), ...query, signal })
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    throw errorOf(error) ?? error
  }
}
