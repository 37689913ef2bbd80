import { InvalidInputError } from '../../domain/errors.ts'
import type { SubmissionBody } from '../client/schemas/submissionSchema.ts'
import type { Engine, Submission } from '../engine.ts'

type File = NonNullable<SubmissionBody['files']>[number]
type SubmittedFile = NonNullable<Submission['files']>[number]

/**
 * The submission that a request asks for, its files read from the project. Raises `InvalidInputError` naming a file that
 * is not there, and where header and body give two keys.
 */
export const submissionOf = async (engine: Engine, body: SubmissionBody, headerKey: string | undefined): Promise<Submission> => {
  const { files = [], idempotencyKey = headerKey, ...rest } = body
  if (headerKey !== undefined && idempotencyKey !== headerKey) {
    throw new InvalidInputError('the header Idempotency-Key and the field "idempotencyKey" give two keys: give one', { field: 'idempotencyKey' })
  }
  const read: SubmittedFile[] = []
  for (const [index, file] of files.entries()) read.push(await fileOf(engine, body.projectId ?? 'default', file, index))
  return { ...rest, ...(idempotencyKey === undefined ? {} : { idempotencyKey }), ...(read.length === 0 ? {} : { files: read }) }
}

const fileOf = async (engine: Engine, projectId: string, file: File, index: number): Promise<SubmittedFile> => {
  const { name, sha256, text } = file
  const field = `files.${index}`
  if ((sha256 === undefined) === (text === undefined)) {
    throw new InvalidInputError(`body: "${field}" needs either "sha256", of a file stored before, or "text"`, { in: 'body', field })
  }
  if (text !== undefined) return { name, content: new TextEncoder().encode(text) }
  const content = sha256 === undefined ? null : await engine.getFile(projectId, sha256)
  if (content !== null) return { name, content }
  throw new InvalidInputError(
    `body: "${field}" names ${sha256}, which is no file of project ${JSON.stringify(projectId)}: store it with POST /v1/artifacts first`,
    { in: 'body', field, sha256 },
  )
}
