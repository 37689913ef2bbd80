import { EngineError, InvalidInputError } from '../../domain/errors.ts'
import type { EventType } from '../../domain/job/events.ts'
import type { Position } from '../../domain/ports/eventStore.ts'
import { backoffMs } from '../../domain/retry.ts'
import { type Connect, connectSocket } from './connectSocket.ts'
import { bearerProtocol, liveClosing, liveProtocol } from './liveClosing.ts'
import { type Ending, liveConnection } from './liveConnection.ts'
import type { FollowedFrame } from './liveFrame.ts'
import { pause } from './pause.ts'

export type FollowOptions = {
  /** Where the server is, such as `http://127.0.0.1:8080`. */
  readonly url: string
  /** Browsers with a session need none. */
  readonly token?: string
  /** A position that was given out before; `start`: from the first event; `end` (default): from now on. */
  readonly after?: Position
  /** Id of one job, or a unique prefix of one. */
  readonly jobId?: string
  readonly projectIds?: readonly string[]
  readonly types?: readonly EventType[]
  /** Ends the iteration. */
  readonly signal?: AbortSignal
  /** Default: the host's own WebSocket, or that of the `ws` package where there is none. */
  readonly connect?: Connect
  /** Told each time the connection is lost, before the wait. */
  onWait?(wait: { readonly reason: string; readonly delayMs: number }): void
  /** Default: timers of the host. Resolves early when the signal aborts. */
  sleep?(ms: number, signal: AbortSignal): Promise<void>
  /** In [0, 1): keeps many that lost one server from coming back at once. */
  luck?(): number
}

/** The wait before each new try, from half a second to half a minute. */
const patience = { delayMsMin: 500, delayMsMax: 30_000, attemptsMax: Number.POSITIVE_INFINITY }
/** The server gives a sign every ten seconds, but while it looks through what the query hides. */
const silentMsMin = 45_000

/**
 * Every event of the query exactly once and in log order, over any loss of the connection, and marks of how far that
 * reaches. Whoever stops reading stops the server from sending. Whoever begins again with `after` as the last position
 * misses nothing.
 *
 * Ends when the signal aborts. Raises `InvalidInputError` for an address or a token that cannot be one, and `EngineError`
 * with the server's code where it refuses for good: the query, the token, the project, or a position of another log.
 */
export async function* followEvents(options: FollowOptions): AsyncGenerator<FollowedFrame, void, undefined> {
  const { connect = connectSocket, sleep = pause, luck = Math.random, signal = new AbortController().signal } = options
  const protocols = protocolsOf(options.token)
  let after = options.after
  let [failures, silences] = [0, 0]
  while (!signal.aborted) {
    const silentMsMax = silentMsMin * 2 ** silences
    const connection = liveConnection(addressOf(options, after), { connect, protocols, silentMsMax, sleep, signal })
    try {
      for (let frame = await connection.next(); frame !== null; frame = await connection.next()) {
        after = frame.position
        failures = silences = 0
        yield frame
        if (signal.aborted) return
      }
    } finally {
      connection.close()
    }
    const ending = connection.ending()
    refuseForGood(ending)
    if (ending.isBehind || signal.aborted) continue
    if (ending.isSilent) silences += 1
    failures += 1
    const delayMs = backoffMs(failures, luck(), patience)
    options.onWait?.({ reason: ending.reason, delayMs })
    await sleep(delayMs, signal)
  }
}

const addressOf = ({ url, jobId, projectIds = [], types }: FollowOptions, after: Position | undefined): string => {
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    throw new InvalidInputError(`${JSON.stringify(url)} is no address of a server: give one such as http://127.0.0.1:8080`, { url })
  }
  const address = new URL('v1/events/live', url.endsWith('/') ? url : `${url}/`)
  address.protocol = address.protocol.replace('http', 'ws')
  const { searchParams } = address
  if (after !== undefined) searchParams.set('after', after)
  if (jobId !== undefined) searchParams.set('jobId', jobId)
  for (const projectId of projectIds) searchParams.append('projectId', projectId)
  if (types !== undefined) searchParams.set('types', types.join(','))
  return address.href
}

const protocolsOf = (token: string | undefined): readonly string[] => {
  if (token === undefined) return [liveProtocol]
  // What a subprotocol may be made of: anything else cannot be offered.
  if (!/^[\w!#$%&'*+.^`|~-]+$/.test(token)) throw new InvalidInputError('the token holds characters that no token has')
  return [liveProtocol, `${bearerProtocol}${token}`]
}

/** What to do where another try would end the same way. */
const advice: Readonly<Record<number, string>> = {
  [liveClosing.bad_request]: 'ask for something else',
  [liveClosing.unauthorized]: 'give a token that is valid (knovaryn token create)',
  [liveClosing.forbidden]: 'ask for what the token allows, or give another one',
  [liveClosing.foreign_position]: 'follow from "start", or from a position that this log gave out',
}

const refuseForGood = ({ code, error, reason }: Ending): void => {
  const what = code === null ? undefined : advice[code]
  if (what === undefined) return
  throw new EngineError(error?.code ?? 'refused', `the server does not tell these events: ${reason}: ${what}`, { closeCode: code })
}
