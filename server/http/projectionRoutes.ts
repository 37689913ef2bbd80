import { z } from 'zod'
import { listOf } from '../client/schemas/listOf.ts'
import { projectionStatusSchema } from '../client/schemas/reportSchemas.ts'
import type { Routes } from './httpApp.ts'
import { nothingAsked } from './jobRoutes.ts'

const tags = ['projections']
const response = { 200: z.strictObject({ items: listOf(projectionStatusSchema) }) }

/** The views of the log. */
export const projectionRoutes: Routes = (app, { engineOf }) => {
  app.get(
    '/v1/projections',
    { schema: { tags, summary: 'The views, and how far each has read', querystring: nothingAsked, response } },
    async (request) => ({ items: await engineOf(request).projections() }),
  )
  app.post(
    '/v1/projections/:name/rebuild',
    {
      schema: {
        tags,
        summary: 'Make a view anew from the log; answers once it is made',
        params: z.strictObject({ name: z.string().min(1).max(100) }),
        body: z.strictObject({}).nullish(),
        response,
      },
    },
    async (request) => ({ items: await engineOf(request).rebuild([request.params.name]) }),
  )
}
