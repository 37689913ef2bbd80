import { z } from 'zod'
import type { Workplace } from '../engine.ts'
import type { Routes } from './httpApp.ts'

const open = { config: { guard: 'nobody' } } as const
const described = { tags: ['health'], security: [] }
const readinessSchema = z.strictObject({ status: z.enum(['ready', 'not_ready']), reason: z.string().nullable() })

/** For whoever watches over the process. Nobody needs a token, and nothing of the jobs is told. */
export const healthRoutes =
  (ready: Workplace['ready']): Routes =>
  (app) => {
    app.get(
      '/healthz',
      { ...open, schema: { ...described, summary: 'The process answers', response: { 200: z.strictObject({ status: z.literal('ok') }) } } },
      async () => ({ status: 'ok' as const }),
    )
    app.get(
      '/readyz',
      {
        ...open,
        schema: {
          ...described,
          summary: 'The store is read and written, and its views keep up with the log',
          response: { 200: readinessSchema, 503: readinessSchema },
        },
      },
      async (_, reply) => {
        const { isReady, reason } = await ready()
        return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'not_ready', reason })
      },
    )
  }
