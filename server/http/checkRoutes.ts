import { z } from 'zod'
import { jobDocumentSchema } from '../client/schemas/jobDocumentSchema.ts'
import { auditReportSchema, projectionCheckSchema } from '../client/schemas/reportSchemas.ts'
import { submissionSchema } from '../client/schemas/submissionSchema.ts'
import { EngineError } from '../../domain/errors.ts'
import type { Routes } from './httpApp.ts'
import { idempotencyHeader } from './idempotencyHeader.ts'
import { nothingAsked } from './jobRoutes.ts'
import { submissionOf } from './submissionOf.ts'

/** Looking without changing anything: for a job by what it was submitted as, and whether log and views hold. */
export const checkRoutes: Routes = (app, { engineOf }) => {
  app.post(
    '/v1/jobs/find',
    {
      schema: {
        tags: ['jobs'],
        summary: 'The job that has the key of this submission; null where there is none yet. Nothing is written',
        headers: idempotencyHeader(500),
        body: submissionSchema,
        response: { 200: z.strictObject({ job: jobDocumentSchema.nullable() }) },
      },
    },
    async (request) => {
      const engine = engineOf(request)
      return { job: await engine.find(await submissionOf(engine, request.body, request.headers['idempotency-key'])) }
    },
  )
  app.get(
    '/v1/log/verify',
    {
      schema: {
        tags: ['log'],
        summary: 'Check every job of the log; answers once it is done',
        querystring: nothingAsked,
        response: { 200: auditReportSchema },
      },
    },
    async (request) => engineOf(request).verifyLog(),
  )
  app.get(
    '/v1/projections/:name/verify',
    {
      schema: {
        tags: ['projections'],
        summary: 'Compare a view with a fresh fold, byte for byte',
        params: z.strictObject({ name: z.string().min(1).max(100) }),
        querystring: nothingAsked,
        response: { 200: projectionCheckSchema },
      },
    },
    async (request) => {
      const [check] = await engineOf(request).verifyProjections([request.params.name])
      if (check === undefined) throw new EngineError('internal', `no check of ${request.params.name} was made`)
      return check
    },
  )
}
