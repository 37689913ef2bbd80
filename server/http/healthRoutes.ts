import { z } from 'zod'
import type { Engine } from '../engine.ts'
import type { Routes } from './httpApp.ts'

/** How long views may take to reach the end of the log before a server is not ready. */
const lagMsMax = 5_000
/** One look serves everybody who asks meanwhile, and so long after. */
const keptMs = 1_000

type Readiness = { readonly isReady: boolean; readonly reason: string | null }

const tags = ['health']
const open = { config: { guard: 'nobody' } } as const

/** For whoever watches over the process. Nobody needs a token, and nothing of the jobs is told. */
export const healthRoutes =
  (engine: Engine): Routes =>
  (app) => {
    const ready = kept(() => readinessOf(engine))
    app.get(
      '/healthz',
      { ...open, schema: { tags, security: [], summary: 'The process answers', response: { 200: z.strictObject({ status: z.literal('ok') }) } } },
      async () => ({ status: 'ok' as const }),
    )
    const readiness = z.strictObject({ status: z.enum(['ready', 'not_ready']), reason: z.string().nullable() })
    app.get(
      '/readyz',
      {
        ...open,
        schema: {
          tags,
          security: [],
          summary: `The store answers, and its views reach the end of the log within ${lagMsMax / 1_000} s`,
          response: { 200: readiness, 503: readiness },
        },
      },
      async (_, reply) => {
        const { isReady, reason } = await ready()
        return reply.code(isReady ? 200 : 503).send({ status: isReady ? 'ready' : 'not_ready', reason })
      },
    )
  }

const readinessOf = async (engine: Engine): Promise<Readiness> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<Readiness>((resolve) => {
    timer = setTimeout(() => resolve({ isReady: false, reason: 'the views do not reach the end of the log' }), lagMsMax)
  })
  const reached = engine.projections().then(
    (): Readiness => ({ isReady: true, reason: null }),
    (): Readiness => ({ isReady: false, reason: 'the store does not answer' }),
  )
  return Promise.race([reached, late]).finally(() => clearTimeout(timer))
}

const kept = (look: () => Promise<Readiness>): (() => Promise<Readiness>) => {
  let seen: Promise<Readiness> | null = null
  return () => {
    seen ??= look().finally(() => setTimeout(() => (seen = null), keptMs).unref())
    return seen
  }
}
