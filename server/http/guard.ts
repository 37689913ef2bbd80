import type { FastifyRequest } from 'fastify'
import { EngineError } from '../../domain/errors.ts'
import type { Access, Grant } from '../access.ts'
import type { HttpApp } from './httpApp.ts'
import { sessionTokenOf } from './sessionCookie.ts'

/** Whoever is at this machine, where no token was ever made. */
const atThisMachine: Grant = { name: 'local', role: 'admin', projects: null }

/** Names by which a server for this machine alone may be called: any other is a name that somebody else pointed here. */
const ownNames: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** What the server is bound to. */
export type Binding = { isLoopback: boolean; host: string }

/**
 * Finds out who asks, before anything of the body is read. Pages of other servers are refused, and a server without
 * tokens answers only to names of this machine.
 */
export const identify = (app: HttpApp, access: Access, binding: Binding): void => {
  app.decorateRequest('grant', null)
  app.decorateRequest('token', null)
  app.addHook('onRequest', async (request) => {
    refuseForeignPages(request)
    const isRequired = await access.isRequired()
    const given = tokenOf(request)
    // A cookie is sent to every server of a name, whatever its port: one without tokens has made none.
    const { token, isCookie } = given.isCookie && !isRequired ? { token: null, isCookie: false } : given
    request.token = token
    if (token !== null) request.grant = await access.check(token)
    if (isCookie) refuseUnsaidOrigins(request)
    if (token !== null || isRequired) return
    refuseForeignNames(request, binding)
    request.grant = binding.isLoopback ? atThisMachine : null
  })
}

/** Lets nobody in without a grant, but where the route says otherwise. Comes after the limit of requests. */
export const admit = (app: HttpApp): void => {
  app.addHook('preParsing', async (request) => {
    if ((request.routeOptions.config.guard ?? 'token') === 'token') grantOf(request)
  })
}

/** Raises `unauthenticated` where nobody is known to ask. */
export const grantOf = ({ grant, token }: FastifyRequest): Grant => {
  if (grant !== null) return grant
  const message = token === null ? 'give a token: Authorization: Bearer …' : 'the token is unknown, expired or revoked'
  throw new EngineError('unauthenticated', message)
}

const bearer = /^Bearer +(\S+)$/i

/** Of a WebSocket of a browser, which can send no header: offered beside the protocol. */
const offered = /(?:^|,)\s*bearer\.([^\s,]+)/

const tokenOf = ({ headers }: FastifyRequest): { readonly token: string | null; readonly isCookie: boolean } => {
  const { authorization, cookie = '', upgrade } = headers
  const protocols = upgrade === undefined ? '' : (headers['sec-websocket-protocol'] ?? '')
  const given = authorization === undefined ? offered.exec(protocols)?.[1] : (bearer.exec(authorization)?.[1] ?? '')
  if (given !== undefined) return { token: given, isCookie: false }
  const token = sessionTokenOf(cookie)
  return { token, isCookie: token !== null }
}

const refuseForeignPages = ({ headers }: FastifyRequest): void => {
  const { origin, host = '' } = headers
  if (origin === undefined || hostOf(origin) === host.toLowerCase()) return
  throw new EngineError('foreign_origin', `a page of ${JSON.stringify(origin)} may not use this server`, { origin })
}

/** A cookie goes along whoever made the browser send it: what changes something says from which page it comes. */
const refuseUnsaidOrigins = ({ method, headers }: FastifyRequest): void => {
  const isSaid = headers.origin !== undefined || headers['sec-fetch-site'] === 'same-origin'
  if (isSaid || method === 'GET' || method === 'HEAD') return
  throw new EngineError('foreign_origin', 'a session cookie changes something only with the header Origin of its own page')
}

const refuseForeignNames = ({ headers }: FastifyRequest, { host: own }: Binding): void => {
  const { host = '' } = headers
  const name = host.replace(/:\d+$/, '').toLowerCase()
  if (ownNames.has(name) || name === own) return
  throw new EngineError('foreign_host', `${JSON.stringify(host)} is no name of this machine: without tokens only localhost is served`, { host })
}

const hostOf = (origin: string): string | null => (URL.canParse(origin) ? new URL(origin).host : null)
