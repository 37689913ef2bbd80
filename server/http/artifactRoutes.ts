import { z } from 'zod'
import { EngineError } from '../../domain/errors.ts'
import { Sha256Hex } from '../../domain/job/events.ts'
import { projectIdSchema } from '../client/schemas/submissionSchema.ts'
import type { HttpApp, Routes } from './httpApp.ts'
import { limitUploads } from './limitUploads.ts'

/** The largest file that a job takes: one of prompts. */
const artifactBytesMax = 256 * 1024 * 1024
/** Of all files that are received at one time. */
const uploadsBytesMax = 512 * 1024 * 1024

const ofProject = z.strictObject({ projectId: projectIdSchema.default('default') })
const bytes = z.custom<Uint8Array>()

/** Files of a project, by their hash: those that a job is to read, and those that it left. */
export const artifactRoutes: Routes = async (app, { engineOf }) => {
  // Bytes of any type are taken as they are, here and nowhere else.
  await app.register(async (own: HttpApp) => {
    limitUploads(own, { bytesMax: uploadsBytesMax, bodyBytesMax: artifactBytesMax })
    own.removeAllContentTypeParsers()
    own.addContentTypeParser<Buffer>('*', { parseAs: 'buffer', bodyLimit: artifactBytesMax }, (_, body, done) => done(null, body))
    own.post(
      '/v1/artifacts',
      {
        bodyLimit: artifactBytesMax,
        schema: {
          tags: ['artifacts'],
          summary: 'Store a file of a project, for jobs that name it by its hash. Storing the same bytes again is a success',
          consumes: ['application/octet-stream'],
          querystring: ofProject,
          body: z.custom<Uint8Array | null>(),
          response: { 201: z.strictObject({ sha256: Sha256Hex, bytes: z.int().nonnegative() }) },
        },
      },
      async (request, reply) => {
        const { projectId } = request.query
        const stored = await engineOf(request).putFile(projectId, request.body ?? new Uint8Array())
        return reply.code(201).send(stored)
      },
    )
  })

  app.get(
    '/v1/artifacts/:sha256',
    {
      schema: {
        tags: ['artifacts'],
        summary: 'The bytes of a file of a project',
        params: z.strictObject({ sha256: Sha256Hex }),
        querystring: ofProject,
        produces: ['application/octet-stream'],
        response: { 200: bytes },
      },
    },
    async (request, reply) => {
      const { sha256 } = request.params
      const { projectId } = request.query
      const content = await engineOf(request).getFile(projectId, sha256)
      if (content === null) {
        throw new EngineError('artifact_not_found', `project ${JSON.stringify(projectId)} has no file ${sha256}`, { projectId, sha256 })
      }
      reply.type('application/octet-stream').header('content-disposition', 'attachment')
      return reply.send(Buffer.from(content.buffer, content.byteOffset, content.byteLength))
    },
  )
}
