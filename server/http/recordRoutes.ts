import { z } from 'zod'
import { outputFileSchema } from '../client/schemas/jobDocumentSchema.ts'
import { jobEventSchema } from '../client/schemas/jobEventSchema.ts'
import { ledgerSchema } from '../client/schemas/ledgerSchema.ts'
import { listOf, pageOf } from '../client/schemas/listOf.ts'
import { auditReportSchema, checkpointSchema } from '../client/schemas/reportSchemas.ts'
import { checkpointsOf } from './checkpointsOf.ts'
import type { Routes } from './httpApp.ts'
import { jobParams, nothingAsked } from './jobRoutes.ts'
import { queryNumber } from './queryNumber.ts'

const tags = ['records']

const eventsPage = z.strictObject({
  afterRevision: queryNumber(0, Number.MAX_SAFE_INTEGER).exactOptional(),
  limit: queryNumber(1, 1_000).exactOptional(),
})

/** What the log holds of one job. */
export const recordRoutes: Routes = (app, { engineOf }) => {
  for (const name of ['events', 'history'] as const) {
    app.get(
      `/v1/jobs/:id/${name}`,
      {
        schema: {
          tags,
          summary: 'What happened to a job, in order of revision; `nextCursor` is the `afterRevision` of the next page',
          params: jobParams,
          querystring: eventsPage,
          response: { 200: pageOf(jobEventSchema) },
        },
      },
      async (request) => engineOf(request).events(request.params.id, request.query),
    )
  }

  app.get(
    '/v1/jobs/:id/checkpoints',
    {
      schema: {
        tags,
        summary: 'What the stages of a job have recorded, in order of revision',
        params: jobParams,
        querystring: eventsPage,
        response: { 200: pageOf(checkpointSchema) },
      },
    },
    async (request) => checkpointsOf(engineOf(request), request.params.id, request.query),
  )

  const asked = { tags, params: jobParams, querystring: nothingAsked }
  app.get(
    '/v1/jobs/:id/ledger',
    { schema: { ...asked, summary: 'Every call of a job and what it cost', response: { 200: ledgerSchema } } },
    async (request) => engineOf(request).ledger(request.params.id),
  )
  app.get(
    '/v1/jobs/:id/audit',
    { schema: { ...asked, summary: 'Check a job: chain, rules, limits, ledger, artifacts', response: { 200: auditReportSchema } } },
    async (request) => engineOf(request).audit(request.params.id),
  )
  app.get(
    '/v1/jobs/:id/output',
    {
      schema: {
        ...asked,
        summary: 'The files that a succeeded job leaves: their bytes are artifacts of its project',
        response: { 200: z.strictObject({ items: listOf(outputFileSchema) }) },
      },
    },
    async (request) => ({ items: await engineOf(request).outputFiles(request.params.id) }),
  )
}
