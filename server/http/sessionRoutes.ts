import { z } from 'zod'
import { EngineError } from '../../domain/errors.ts'
import { roles, type Access } from '../access.ts'
import { listOf } from '../client/schemas/listOf.ts'
import type { Binding } from './guard.ts'
import type { Routes } from './httpApp.ts'
import { endedSessionCookie, sessionCookie } from './sessionCookie.ts'

const tags = ['session']
const grantSchema = z
  .strictObject({ name: z.string(), role: z.enum(roles), projects: listOf(z.string()).nullable() })
  .meta({ id: 'Grant' })

/** For browsers: a token becomes a cookie that no script can read. */
export const sessionRoutes =
  (access: Access, binding: Binding): Routes =>
  (app) => {
    app.post(
      '/v1/session',
      {
        config: { guard: 'nobody' },
        schema: {
          tags,
          security: [],
          summary: 'Exchange a token for a session cookie',
          body: z.strictObject({ token: z.string().regex(/^[\w.~+/-]+=*$/, 'must be a token').max(500) }),
          response: { 200: grantSchema },
        },
      },
      async (request, reply) => {
        const { token } = request.body
        const grant = await access.check(token)
        if (grant === null) throw new EngineError('unauthenticated', 'the token is unknown, expired or revoked')
        reply.header('set-cookie', sessionCookie(token, !binding.isLoopback))
        return reply.send(grant)
      },
    )
    app.delete(
      '/v1/session',
      { config: { guard: 'nobody' }, schema: { tags, security: [], summary: 'End the session of a browser', response: { 204: z.undefined() } } },
      async (_, reply) => reply.code(204).header('set-cookie', endedSessionCookie).send(),
    )
  }
