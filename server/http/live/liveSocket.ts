import type { Socket } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { WebSocket } from '@fastify/websocket'
import type { Clock } from '../../../domain/ports/clock.ts'
import type { Grant } from '../../access.ts'
import type { Engine } from '../../engine.ts'
import { liveClosing, type LiveClosing } from '../../client/liveClosing.ts'
import { grantOf } from '../guard.ts'
import { problemOf } from '../problems.ts'
import { requestIssue } from '../requestIssue.ts'
import type { Following } from './follower.ts'
import type { LiveConnections } from './liveConnections.ts'
import { liveQueryOf, liveQuerySchema } from './liveQuery.ts'
import { closeMs, coalesced, drainOf, type Outlet, waitingBytesMax } from './outlet.ts'

type Sockets = {
  readonly connections: LiveConnections
  readonly clock: Clock
  engineFor(grant: Grant): Engine
  fault(what: string, error: unknown): void
}

const pingMs = 30_000
const silentMsMax = 90_000

/** Serves a socket of live events until either side ends it. Never rejects. */
export const serveLiveSocket = (sockets: Sockets, socket: WebSocket, request: FastifyRequest): void => {
  const leaving = new AbortController()
  socket.on('close', () => leaving.abort())
  leaving.signal.addEventListener('abort', () => part(socket, leaving.signal.reason, sockets.clock))
  const follow = ({ query, live }: Followed): Promise<void> => {
    const outlet = socketOutlet(socket, stream)
    return sockets.connections.follow({ live, query, outlet, signal: leaving.signal }, pinging(socket, sockets.clock))
  }
  const { socket: stream } = request.raw
  followed(sockets, request, leaving)
    .then(follow)
    .catch((error: unknown) => {
      if (problemOf(error).isFault) sockets.fault('telling of live events', error)
      leaving.abort(error)
    })
}

type Followed = Pick<Following, 'query' | 'live'>

/** What is asked, once it is clear that it may be. An open socket keeps nothing else of its request. */
const followed = async ({ connections, engineFor }: Sockets, request: FastifyRequest, leaving: AbortController): Promise<Followed> => {
  connections.enter(leaving)
  const grant = grantOf(request)
  connections.watchToken(request.token, leaving)
  const asked = liveQuerySchema.safeParse(request.query)
  if (!asked.success) throw requestIssue('query', liveQuerySchema, asked.error)
  const query = await liveQueryOf(asked.data, engineFor(grant), grant)
  return { query, live: (...given) => engineFor(grant).live(...given) }
}

const socketOutlet = (socket: WebSocket, stream: Socket): Outlet => {
  const together = coalesced(stream)
  const send = (frame: Buffer | string): void => {
    together()
    socket.send(frame, asText)
  }
  return {
    event: ({ frame }) => send(frame),
    caughtUp: (position) => send(JSON.stringify({ kind: 'caught_up', position })),
    // Pings do that.
    alive: () => {},
    isFull: () => socket.bufferedAmount > waitingBytesMax,
    drained: (signal) => drainOf(stream, signal),
  }
}

const asText = { binary: false } as const

const pinging = (socket: WebSocket, clock: Clock): ((now: number) => void) => {
  let heardAt = clock.monotonic()
  let pingedAt = heardAt
  socket.on('pong', () => (heardAt = clock.monotonic()))
  return (now) => {
    if (now - heardAt >= silentMsMax) return socket.terminate()
    if (now - pingedAt < pingMs) return
    pingedAt = now
    socket.ping()
  }
}

/** Ends the socket with the reason told, where there is one to tell. */
const part = (socket: WebSocket, reason: unknown, clock: Clock): void => {
  if (socket.readyState !== socket.OPEN) return
  const { code, detail } = problemOf(reason)
  socket.send(JSON.stringify({ kind: 'error', code, message: detail }))
  socket.close(liveClosing[closingOf(reason)], code)
  const gone = new AbortController()
  socket.on('close', () => gone.abort())
  void clock.sleep(closeMs, gone.signal).then(() => socket.terminate())
}

const closings: Readonly<Record<string, LiveClosing>> = {
  unauthenticated: 'unauthorized',
  forbidden: 'forbidden',
  foreign_position: 'foreign_position',
  closing: 'going_away',
  try_again_later: 'try_again_later',
  store_unavailable: 'try_again_later',
}

const closingOf = (reason: unknown): LiveClosing => {
  const { code, isFault } = problemOf(reason)
  return closings[code] ?? (isFault ? 'internal' : 'bad_request')
}
