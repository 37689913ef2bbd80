import { z } from 'zod'
import { jobStates } from '../../domain/job/job.ts'
import { estimateSchema } from '../client/schemas/estimateSchema.ts'
import { jobDocumentSchema } from '../client/schemas/jobDocumentSchema.ts'
import { jobInListSchema } from '../client/schemas/jobInListSchema.ts'
import { pageOf } from '../client/schemas/listOf.ts'
import { projectIdSchema, submissionSchema } from '../client/schemas/submissionSchema.ts'
import type { Routes } from './httpApp.ts'
import { idempotencyHeader } from './idempotencyHeader.ts'
import { queryNumber } from './queryNumber.ts'
import { submissionOf } from './submissionOf.ts'

const tags = ['jobs']

/** Submitting, looking for and listing jobs. */
export const jobRoutes: Routes = (app, { engineOf }) => {
  app.post(
    '/v1/jobs',
    {
      schema: {
        tags,
        summary: 'Submit a job: 201, or 200 with `existing: true` where its key is known with the same content',
        headers: idempotencyHeader(500),
        body: submissionSchema,
        response: { 201: jobDocumentSchema, 200: jobDocumentSchema },
      },
    },
    async (request, reply) => {
      const engine = engineOf(request)
      const job = await engine.submit(await submissionOf(engine, request.body, request.headers['idempotency-key']))
      reply.header('location', `/v1/jobs/${job.jobId}`)
      return reply.code(job.existing ? 200 : 201).send(job)
    },
  )

  app.post(
    '/v1/jobs/estimate',
    {
      schema: {
        tags,
        summary: 'What a job is going to take; nothing is written',
        headers: idempotencyHeader(500),
        body: submissionSchema,
        response: { 200: estimateSchema },
      },
    },
    async (request) => {
      const engine = engineOf(request)
      return engine.estimate(await submissionOf(engine, request.body, request.headers['idempotency-key']))
    },
  )

  app.get(
    '/v1/jobs',
    {
      schema: {
        tags,
        summary: 'Jobs, newest first; each once, however states change while paging',
        querystring: z.strictObject({
          projectId: projectIdSchema.exactOptional(),
          state: z.enum(jobStates).exactOptional(),
          type: z.string().min(1).max(200).exactOptional(),
          label: z.string().min(1).max(401).describe('name=value').exactOptional(),
          limit: queryNumber(1, 500).exactOptional(),
          cursor: z.string().min(1).max(4_096).exactOptional(),
        }),
        response: { 200: pageOf(jobInListSchema) },
      },
    },
    async (request) => engineOf(request).list(request.query),
  )

  app.get(
    '/v1/jobs/:id',
    {
      schema: {
        tags,
        summary: 'One job as it stands',
        params: jobParams,
        querystring: nothingAsked,
        response: { 200: jobDocumentSchema },
      },
    },
    async (request) => engineOf(request).status(request.params.id),
  )
}

/** A job's id, or a prefix of it that no other job has. */
export const jobParams = z.strictObject({ id: z.string().min(1).max(100).describe('id of a job, or a unique prefix of one') })

export const nothingAsked = z.strictObject({})
