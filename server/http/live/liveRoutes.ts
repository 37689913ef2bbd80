import websocket from '@fastify/websocket'
import { InvalidInputError } from '../../../domain/errors.ts'
import { liveProtocol } from '../../client/liveClosing.ts'
import type { HttpApp, Routes } from '../httpApp.ts'
import { asyncApi } from './asyncApi.ts'
import { eventStreamRoute } from './eventStream.ts'
import { liveConnections, type LiveParts } from './liveConnections.ts'
import { serveLiveSocket } from './liveSocket.ts'
import { openFilesMax } from './openFilesMax.ts'

export type LiveRoutes = {
  readonly routes: Routes
  /** Sockets and streams that follow events at this moment. */
  connections(): number
}

/** Of the files that may be open, some are needed for the store and for other requests. */
const connectionsMaxDefault = (): number => Math.min(20_000, Math.floor(openFilesMax() * 0.75))
/** Followers have nothing to say. */
const incomingBytesMax = 1_024

/** Live events over WebSockets and as server-sent events, described at `/asyncapi.json`. */
export const liveRoutes = (parts: Omit<LiveParts, 'connectionsMax'> & Partial<LiveParts>): LiveRoutes => {
  const connections = liveConnections({ ...parts, connectionsMax: parts.connectionsMax ?? connectionsMaxDefault() })
  const { clock, fault } = parts
  return {
    connections: connections.count,
    routes: async (app, routeParts) => {
      routeParts.closing.addEventListener('abort', connections.end)
      await openSockets(app, connections.end)
      app.route({
        method: 'GET',
        url: '/v1/events/live',
        exposeHeadRoute: false,
        config: { guard: 'own' },
        schema: { hide: true },
        handler: () => {
          throw new InvalidInputError('open a WebSocket here, or read /v1/events/stream')
        },
        wsHandler: (socket, request) => serveLiveSocket({ connections, clock, fault, engineOf: routeParts.engineOf }, socket, request),
      })
      await eventStreamRoute(connections, clock, fault)(app, routeParts)
      app.get('/asyncapi.json', { config: { guard: 'nobody' }, schema: { hide: true } }, async (request, reply) =>
        reply.type('application/json').send(JSON.stringify(asyncApi(request.host))),
      )
    },
  }
}

const openSockets = async (app: HttpApp, end: () => void): Promise<void> => {
  await app.register(websocket, {
    options: {
      maxPayload: incomingBytesMax,
      // The token that is offered beside it is not repeated.
      handleProtocols: (offered) => (offered.has(liveProtocol) ? liveProtocol : false),
    },
    errorHandler: (_, socket) => socket.terminate(),
    preClose: (done) => {
      end()
      app.websocketServer.close(() => done())
    },
  })
}
