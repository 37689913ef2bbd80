import { z } from 'zod'
import { InvalidInputError } from '../../domain/errors.ts'
import type { JobDocument } from '../../domain/job/document.ts'
import { jobDocumentSchema } from '../client/schemas/jobDocumentSchema.ts'
import { limitsSchema, reconciliationSchema } from '../client/schemas/submissionSchema.ts'
import type { Asker, Engine } from '../engine.ts'
import type { Routes } from './httpApp.ts'
import { idempotencyHeader } from './idempotencyHeader.ts'
import { jobParams } from './jobRoutes.ts'

const simple: readonly (readonly [name: string, summary: string, give: (engine: Engine, id: string, asker: Asker) => Promise<JobDocument>])[] = [
  ['pause', 'Pause at the next checkpoint or call', (engine, id, asker) => engine.pause(id, asker)],
  ['cancel', 'End a job for good', (engine, id, asker) => engine.cancel(id, asker)],
  ['retry', 'Let a failed job try again', (engine, id, asker) => engine.retry(id, asker)],
]

/** What is read of every command: its repeat is known by `Idempotency-Key`. */
const command = { tags: ['commands'], headers: idempotencyHeader(200), params: jobParams, response: { 200: jobDocumentSchema } }

/** What people tell a job to do. */
export const commandRoutes: Routes = (app, { engineOf, askerOf }) => {
  for (const [name, summary, give] of simple) {
    app.post(`/v1/jobs/:id/${name}`, { schema: { ...command, summary, body: z.strictObject({}).nullish() } }, async (request) =>
      give(engineOf(request), request.params.id, askerOf(request)),
    )
  }

  app.post(
    '/v1/jobs/:id/resume',
    {
      schema: {
        ...command,
        summary: 'Let a paused job go on, with higher limits where given',
        body: z.strictObject({ limits: limitsSchema.exactOptional() }).nullish(),
      },
    },
    async (request) => engineOf(request).resume(request.params.id, request.body?.limits, askerOf(request)),
  )

  app.post(
    '/v1/jobs/:id/budget',
    {
      schema: {
        ...command,
        summary: 'Raise limits: each is the new total, null lifts one',
        body: z.strictObject({ limits: limitsSchema }),
      },
    },
    async (request) => {
      const { limits } = request.body
      if (Object.keys(limits).length === 0) {
        throw new InvalidInputError(`body: "limits" must name one at least (known: ${Object.keys(limitsSchema.shape).join(', ')})`, {
          in: 'body',
          field: 'limits',
        })
      }
      return engineOf(request).raiseBudget(request.params.id, limits, askerOf(request))
    },
  )

  app.post(
    '/v1/jobs/:id/reconcile',
    { schema: { ...command, summary: 'Say what became of a held call, by the provider’s own bill', body: reconciliationSchema } },
    async (request) => engineOf(request).reconcile(request.params.id, request.body, askerOf(request)),
  )
}
