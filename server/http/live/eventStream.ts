import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { EngineError } from '../../../domain/errors.ts'
import type { Clock } from '../../../domain/ports/clock.ts'
import { beforeAll, type Position } from '../../../domain/ports/eventStore.ts'
import { grantOf } from '../guard.ts'
import type { Routes } from '../httpApp.ts'
import { problemOf } from '../problems.ts'
import type { LiveConnections } from './liveConnections.ts'
import { liveQueryOf, liveQuerySchema } from './liveQuery.ts'
import { closeMs, coalesced, drainOf, type Outlet, waitingBytesMax } from './outlet.ts'

/** A reader that takes nothing for so long has gone, or had better come again. */
const stuckMsMax = 90_000
const retryMs = 2_000

/** Live events for whoever has no socket: the same frames as server-sent events. */
export const eventStreamRoute =
  (connections: LiveConnections, clock: Clock, fault: (what: string, error: unknown) => void): Routes =>
  (app, { engineOf }) => {
    app.get(
      '/v1/events/stream',
      {
        exposeHeadRoute: false,
        schema: {
          // Described at `/asyncapi.json`.
          hide: true,
          querystring: liveQuerySchema,
          headers: z.object({ 'last-event-id': z.string().max(200).exactOptional() }),
        },
      },
      async (request, reply) => {
        const leaving = new AbortController()
        const { signal } = leaving
        reply.raw.on('close', () => leaving.abort())
        try {
          connections.enter(leaving)
          connections.watchToken(request.token, leaving)
          // Whoever comes again says with the header how far it got; its address still says where it began.
          const { 'last-event-id': last } = request.headers
          const asked = last === undefined || last === '' ? request.query : { ...request.query, after: last }
          const engine = engineOf(request)
          const query = await liveQueryOf(asked, engine, grantOf(request))
          const outlet = streamOutlet(reply)
          await connections.follow({ live: engine.live, query, outlet, signal }, endingWhenStuck(reply, outlet, clock))
          if (signal.reason instanceof EngineError) throw signal.reason
          // Whoever asked has gone before there was anything to tell.
          if (!reply.sent) reply.hijack()
        } catch (error) {
          leaving.abort(error)
          // Until the first frame it is a request like any other.
          if (!reply.sent) throw error
          part(reply, error, clock)
          if (problemOf(error).isFault) fault('telling of live events', error)
        }
      },
    )
  }

const streamOutlet = (reply: FastifyReply): Outlet => {
  const { raw } = reply
  const together = coalesced(raw)
  const send = (...pieces: readonly (Buffer | string)[]): void => {
    if (!reply.sent) begin(reply)
    together()
    for (const piece of pieces) raw.write(piece)
  }
  return {
    event: ({ position, frame }) => send(head('event', position), frame, '\n\n'),
    caughtUp: (position) => send(head('caught_up', position), JSON.stringify({ kind: 'caught_up', position }), '\n\n'),
    alive: () => send(':\n\n'),
    isFull: () => raw.writableLength > waitingBytesMax,
    drained: (signal) => drainOf(raw, signal),
  }
}

/** An empty id would be forgotten, so the place before the first event goes by its other name. */
const head = (event: string, position: Position): string => `event: ${event}\nid: ${position === beforeAll ? 'start' : position}\ndata: `

const begin = (reply: FastifyReply): void => {
  reply.header('content-type', 'text/event-stream; charset=utf-8').header('cache-control', 'no-store').header('x-accel-buffering', 'no')
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) reply.raw.setHeader(name, value)
  reply.raw.write(`retry: ${retryMs}\n\n`)
}

const endingWhenStuck = ({ raw }: FastifyReply, { isFull }: Outlet, clock: Clock): ((now: number) => void) => {
  let movedAt = clock.monotonic()
  return (now) => {
    if (!isFull()) movedAt = now
    if (now - movedAt >= stuckMsMax) raw.destroy()
  }
}

/** Ends the stream with the reason told, where there is one to tell. */
const part = ({ raw }: FastifyReply, reason: unknown, clock: Clock): void => {
  if (raw.destroyed || raw.writableEnded) return
  const { code, detail } = problemOf(reason)
  raw.end(`event: error\ndata: ${JSON.stringify({ kind: 'error', code, message: detail })}\n\n`)
  const gone = new AbortController()
  raw.on('close', () => gone.abort())
  void clock.sleep(closeMs, gone.signal).then(() => raw.destroy())
}
