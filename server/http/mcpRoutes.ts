import type { Engine } from '../engine.ts'
import type { Routes } from './httpApp.ts'

type Answer = (engine: Engine, request: Request, body: unknown) => Promise<Response>

const url = '/mcp'
const passedOn = ['accept', 'content-type', 'mcp-protocol-version']

/** Tools for agents over streamable HTTP. No sessions are kept, so that every request is let in by its own token. */
export const mcpRoutes =
  (answer: Answer): Routes =>
  (app, { engineOf }) => {
    app.post(url, { schema: { hide: true } }, async (request, reply) => {
      const headers = passedOn.flatMap((name): [string, string][] => {
        const value = request.headers[name]
        return typeof value === 'string' ? [[name, value]] : []
      })
      const asked = new Request(`http://localhost${url}`, { method: 'POST', headers })
      const answered = await answer(engineOf(request), asked, request.body)
      return reply.code(answered.status).headers(Object.fromEntries(answered.headers)).send(await answered.text())
    })

    // The server has nothing to say by itself: no stream to listen to, and no session to end.
    app.route({
      method: ['GET', 'DELETE'],
      url,
      schema: { hide: true },
      handler: async (_, reply) => {
        const error = { code: -32_000, message: 'only POST is answered here' }
        return reply.code(405).header('allow', 'POST').send({ jsonrpc: '2.0', error, id: null })
      },
    })
  }
