import type { AddressInfo } from 'node:net'
import helmet from '@fastify/helmet'
import fastify from 'fastify'
import { serializerCompiler, type ZodTypeProvider } from 'fastify-type-provider-zod'
import { EngineError, InvalidInputError } from '../../domain/errors.ts'
import type { Workplace } from '../engine.ts'
import { answerBrokenRequest } from './answerBrokenRequest.ts'
import { answerProblem, answerProblems, type Fault } from './answerProblems.ts'
import { artifactRoutes } from './artifactRoutes.ts'
import { checkRequests } from './checkRequests.ts'
import { checkRoutes } from './checkRoutes.ts'
import { commandRoutes } from './commandRoutes.ts'
import { describeRoutes } from './describeRoutes.ts'
import { admit, type Binding, grantOf, identify } from './guard.ts'
import { healthRoutes } from './healthRoutes.ts'
import type { HttpApp, RouteParts, Routes } from './httpApp.ts'
import { jobRoutes } from './jobRoutes.ts'
import { limitRequests } from './limitRequests.ts'
import { addressOf, inUrl, isLoopback } from './loopback.ts'
import { projectionRoutes } from './projectionRoutes.ts'
import { readBodiesStrictly } from './readBodiesStrictly.ts'
import { recordRoutes } from './recordRoutes.ts'
import { sessionRoutes } from './sessionRoutes.ts'

export type HttpServerParts = Pick<Workplace, 'engineFor' | 'access' | 'ready'> & {
  /** Of one token, or of one address without a valid one. Default 6 000. */
  readonly requestsPerMinute?: number
  /** Routes beside those of this room. */
  readonly routes?: readonly Routes[]
  /** Told of what is ours to mend. */
  readonly fault: Fault
}

export type HttpServer = {
  readonly app: HttpApp
  /**
   * Answers the URL. Raises `InvalidInputError` for an address that others can reach while no token was ever made, and
   * for one that cannot be listened on.
   */
  listen(place: { readonly host: string; readonly port: number }): Promise<string>
  /** Takes no new connections, lets open requests end for so long, and then cuts what is left. */
  close(drainMs?: number): Promise<void>
}

const bodyBytesMax = 4 * 1024 * 1024
const headerBytesMax = 16 * 1024
const requestMsMax = 300_000
const requestsPerMinuteDefault = 6_000
const drainMsDefault = 30_000

/** Jobs over HTTP: REST, described at `/openapi.json`. */
export const httpServer = async (parts: HttpServerParts): Promise<HttpServer> => {
  const { access } = parts
  const binding: Binding = { isLoopback: true, host: 'localhost' }
  const closing = new AbortController()
  const app = newApp(parts.fault)
  await guarded(app, parts, { binding, closing: closing.signal })
  await describeRoutes(app)
  await routed(app, parts, { binding, closing: closing.signal })

  return {
    app,
    async listen({ host, port }) {
      const address = await addressOf(host)
      binding.isLoopback = isLoopback(address)
      binding.host = host.toLowerCase()
      if (!binding.isLoopback && !(await access.isRequired())) throw openToOthers(host)
      await app.listen({ host: address, port }).catch((error: unknown) => {
        throw notListening(error, host, port)
      })
      return `http://${inUrl(address)}:${portOf(app.server.address())}`
    },
    async close(drainMs = drainMsDefault) {
      closing.abort()
      const cut = setTimeout(() => app.server.closeAllConnections(), drainMs)
      await app.close().finally(() => clearTimeout(cut))
    },
  }
}

type Standing = { readonly binding: Binding; readonly closing: AbortSignal }

/** What happens to every request before its route: the order matters. */
const guarded = async (app: HttpApp, parts: HttpServerParts, { binding, closing }: Standing): Promise<void> => {
  answerProblems(app, parts.fault)
  readBodiesStrictly(app)
  checkRequests(app)
  app.setSerializerCompiler(serializerCompiler)
  await app.register(helmet, { contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } } })
  app.addHook('onRequest', async (_, reply) => {
    reply.header('cache-control', 'no-store')
    if (closing.aborted) throw new EngineError('closing', 'the server is stopping: ask again in a while')
  })
  app.addHook('onSend', async (_, reply) => {
    // Kept alive, a connection that was open at the stop would hold the end back.
    if (closing.aborted) reply.header('connection', 'close')
  })
  identify(app, parts.access, binding)
  await limitRequests(app, parts.requestsPerMinute ?? requestsPerMinuteDefault)
  admit(app)
}

const routed = async (app: HttpApp, parts: HttpServerParts, { binding, closing }: Standing): Promise<void> => {
  const own = [
    jobRoutes,
    commandRoutes,
    recordRoutes,
    artifactRoutes,
    projectionRoutes,
    checkRoutes,
    sessionRoutes(parts.access, binding),
    healthRoutes(parts.ready),
  ]
  const given: RouteParts = {
    engineOf: (request) => parts.engineFor(grantOf(request)),
    askerOf: ({ headers }) => {
      const commandId = headers['idempotency-key']
      return typeof commandId === 'string' ? { commandId } : {}
    },
    closing,
  }
  for (const add of [...own, ...(parts.routes ?? [])]) await add(app, given)
}

const newApp = (fault: Fault): HttpApp =>
  fastify({
    bodyLimit: bodyBytesMax,
    requestTimeout: requestMsMax,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    http: { maxHeaderSize: headerBytesMax },
    clientErrorHandler: answerBrokenRequest,
    frameworkErrors: (error, _, reply) => answerProblem(error, reply, fault),
  }).withTypeProvider<ZodTypeProvider>()

const openToOthers = (host: string): InvalidInputError =>
  new InvalidInputError(
    `--host ${host} can be reached from other machines, and no token keeps them out: make one first with knovaryn token create`,
    { option: '--host', host },
  )

const notListening = (error: unknown, host: string, port: number): unknown => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (!/^E(ADDRINUSE|ADDRNOTAVAIL|ACCES)$/.test(code)) return error
  const why = code === 'EADDRINUSE' ? 'is taken by another program' : 'cannot be listened on'
  return new InvalidInputError(`--port ${port} of --host ${host} ${why} (${code}): give another`, { option: '--port', host, port })
}

const portOf = (address: AddressInfo | string | null): number => {
  if (address === null || typeof address === 'string') throw new EngineError('internal', 'the server listens on no port')
  return address.port
}
