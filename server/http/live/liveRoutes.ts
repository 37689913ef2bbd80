import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import websocket, { type WebSocket } from '@fastify/websocket'
import type { FastifyRequest } from 'fastify'
import { InvalidInputError } from '../../../domain/errors.ts'
import type { Grant } from '../../access.ts'
import type { Engine } from '../../engine.ts'
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

type Parts = Omit<LiveParts, 'connectionsMax'> & Partial<LiveParts> & { engineFor(grant: Grant): Engine }

/** Of the files that may be open, some are needed for the store and for other requests. */
const connectionsMaxDefault = (): number => Math.min(20_000, Math.floor(openFilesMax() * 0.75))
/** Followers have nothing to say. */
const incomingBytesMax = 1_024
const upgradeMsMax = 10_000

/** Live events over WebSockets and as server-sent events, described at `/asyncapi.json`. */
export const liveRoutes = (parts: Parts): LiveRoutes => {
  const connections = liveConnections({ ...parts, connectionsMax: parts.connectionsMax ?? connectionsMaxDefault() })
  const { clock, fault, engineFor } = parts
  const responses = new WeakMap<FastifyRequest, ServerResponse>()
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
        preHandler: (request, reply, done) => {
          responses.set(request, reply.raw)
          done()
        },
        wsHandler: (socket, request) => {
          letGo(socket, request, responses)
          serveLiveSocket({ connections, clock, fault, engineFor }, socket, request)
        },
      })
      await eventStreamRoute(connections, clock, fault)(app, routeParts)
      app.get('/asyncapi.json', { config: { guard: 'nobody' }, schema: { hide: true } }, async (request, reply) =>
        reply.type('application/json').send(JSON.stringify(asyncApi(request.host))),
      )
    },
  }
}

/** A socket that is open needs nothing of the request it came with, and would keep all of it. */
const letGo = (socket: WebSocket, request: FastifyRequest, responses: WeakMap<FastifyRequest, ServerResponse>): void => {
  responses.get(request)?.detachSocket(request.raw.socket)
  socket.removeAllListeners('error').on('error', terminate)
}

function terminate(this: WebSocket): void {
  this.terminate()
}

/** A connection that asked to become a socket, and was refused, is read by nobody: it would stay for ever. */
const endRefusedUpgrades = (app: HttpApp): void => {
  app.server.prependListener('upgrade', (_, socket: Socket) => socket.setTimeout(upgradeMsMax, socket.destroy))
  app.addHook('onResponse', async ({ raw }) => {
    if (raw.headers.upgrade !== undefined) raw.socket.destroySoon()
  })
}

const openSockets = async (app: HttpApp, end: () => void): Promise<void> => {
  endRefusedUpgrades(app)
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
