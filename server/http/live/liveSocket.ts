import type { FastifyRequest } from 'fastify'
import type { WebSocket } from '@fastify/websocket'
import type { Clock } from '../../../domain/ports/clock.ts'
import type { Engine } from '../../engine.ts'
import { liveClosing, type LiveClosing } from '../../client/liveClosing.ts'
import { grantOf } from '../guard.ts'
import { problemOf } from '../problems.ts'
import { requestIssue } from '../requestIssue.ts'
import type { LiveConnections } from './liveConnections.ts'
import { liveQueryOf, liveQuerySchema } from './liveQuery.ts'
import { closeMs, coalesced, drainOf, type Outlet, waitingBytesMax } from './outlet.ts'

type Sockets = {
  readonly connections: LiveConnections
  readonly clock: Clock
  engineOf(request: FastifyRequest): Engine
  fault(what: string, error: unknown): void
}

const pingMs = 30_000
const silentMsMax = 90_000

/** Serves a socket of live events until either side ends it. Never rejects. */
export const serveLiveSocket = async (sockets: Sockets, socket: WebSocket, request: FastifyRequest): Promise<void> => {
  const { connections, clock, engineOf, fault } = sockets
  const leaving = new AbortController()
  const { signal } = leaving
  signal.addEventListener('abort', () => part(socket, signal.reason, clock))
  socket.on('close', () => leaving.abort())
  try {
    connections.enter(leaving)
    const grant = grantOf(request)
    connections.watchToken(request, leaving)
    const asked = liveQuerySchema.safeParse(request.query)
    if (!asked.success) throw requestIssue('query', liveQuerySchema, asked.error)
    const engine = engineOf(request)
    const query = await liveQueryOf(asked.data, engine, grant)
    await connections.follow({ live: engine.live, query, outlet: socketOutlet(socket, request), signal }, pinging(socket, clock))
  } catch (error) {
    if (problemOf(error).isFault) fault('telling of live events', error)
    leaving.abort(error)
  }
}

const socketOutlet = (socket: WebSocket, { raw }: FastifyRequest): Outlet => {
  const stream = raw.socket
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
