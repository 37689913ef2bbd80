import { ArtifactCorrupt, EngineError, InvalidInputError, JobStateError } from '../../domain/errors.ts'
import type { RejectionCode } from '../../domain/rejection.ts'
import type { Problem } from '../client/schemas/problemSchema.ts'

type Kind = {
  readonly status: number
  readonly title: string
  /** Ours to mend: whoever asked is told the title alone, and the log the rest. */
  readonly isFault?: true
}

const notFound = (title: string): Kind => ({ status: 404, title })
const conflict = (title: string): Kind => ({ status: 409, title })
const refused = (title: string): Kind => ({ status: 400, title })

type ServerCode =
  | 'invalid_input'
  | 'unpriced_model'
  | 'foreign_position'
  | 'ambiguous_handle'
  | 'artifact_missing'
  | 'revision_conflict'
  | 'append_too_large'
  | 'store_unavailable'
  | 'artifact_corrupt'
  | 'artifact_not_found'
  | 'route_not_found'
  | 'unauthenticated'
  | 'forbidden'
  | 'forbidden_provider'
  | 'forbidden_base_url'
  | 'foreign_host'
  | 'foreign_origin'
  | 'body_too_large'
  | 'headers_too_large'
  | 'unsupported_media_type'
  | 'request_timeout'
  | 'rate_limited'
  | 'busy'
  | 'closing'
  | 'try_again_later'
  | 'internal'

/** The one table of what is answered when something is not done. */
const problems: Readonly<Record<RejectionCode | ServerCode, Kind>> = {
  invalid_input: refused('The request breaks a rule'),
  unpriced_model: refused('The model has no price'),
  limit_lower: refused('A limit can only be raised'),
  ambiguous_handle: refused('More than one job is meant'),
  foreign_position: conflict('The position is not of this log'),
  unauthenticated: { status: 401, title: 'A valid token is needed' },
  budget_exhausted: { status: 402, title: 'The budget is used up' },
  overrun: { status: 402, title: 'A call was billed above its worst case' },
  forbidden: { status: 403, title: 'The token does not allow this' },
  forbidden_provider: { status: 403, title: 'The provider is not configured here' },
  forbidden_base_url: { status: 403, title: 'Providers are named here, not addressed' },
  foreign_host: { status: 403, title: 'The host is not this server' },
  foreign_origin: { status: 403, title: 'The page is not of this server' },
  job_not_found: notFound('There is no such job'),
  artifact_not_found: notFound('There is no such file in the project'),
  route_not_found: notFound('There is nothing at this address'),
  request_timeout: { status: 408, title: 'The request took too long to arrive' },
  job_state: conflict('The state of the job does not allow this'),
  lease_lost: conflict('Somebody else owns the job'),
  not_due: conflict('The job is not due'),
  calls_open: conflict('Calls of the job are open'),
  pause_requested: conflict('The job is asked to pause'),
  cancel_requested: conflict('The job is asked to end'),
  unreconciled_calls: conflict('Calls of the job are not reconciled'),
  idempotency_conflict: conflict('The key is taken by another job'),
  call_in_flight: conflict('The call is under way'),
  call_not_held: conflict('The call is not held'),
  wrong_stage: conflict('The job is at another stage'),
  newer_schema: conflict('The job was written by a newer program'),
  artifact_missing: conflict('A stored file is gone'),
  revision_conflict: conflict('Others kept writing to the job: ask again'),
  body_too_large: { status: 413, title: 'The body is too large' },
  append_too_large: { status: 413, title: 'The job is too large' },
  unsupported_media_type: { status: 415, title: 'The body is of a type that is not read' },
  policy_block: { status: 422, title: 'A policy forbids the work' },
  rate_limited: { status: 429, title: 'Too many requests' },
  headers_too_large: { status: 431, title: 'The headers are too large' },
  internal: { status: 500, title: 'Something went wrong here', isFault: true },
  artifact_corrupt: { status: 500, title: 'A stored file is damaged', isFault: true },
  store_unavailable: { status: 503, title: 'The store cannot answer now', isFault: true },
  busy: { status: 503, title: 'Too much is being received' },
  closing: { status: 503, title: 'The server is stopping' },
  try_again_later: { status: 503, title: 'Too many follow events here' },
}

/** What fastify itself refuses, by its own codes. */
const ofFastify: Readonly<Record<string, ServerCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_TYPE: 'unsupported_media_type',
  FST_ERR_MAX_PARAM_LENGTH: 'route_not_found',
  FST_ERR_ROUTE_NOT_FOUND: 'route_not_found',
}

const isKnown = (code: string): code is RejectionCode | ServerCode => Object.hasOwn(problems, code)

const codeOf = (error: EngineError): RejectionCode | ServerCode => {
  if (isKnown(error.code)) return error.code
  if (error instanceof InvalidInputError) return 'invalid_input'
  return error instanceof JobStateError ? 'job_state' : 'internal'
}

/**
 * What went wrong, as it is told to whoever asked. Of a fault no word is told that was not meant for them, but which file
 * is damaged.
 */
export const problemOf = (thrown: unknown): Problem & { readonly isFault: boolean } => {
  const error = thrown instanceof EngineError ? thrown : unexpected(thrown)
  const known = codeOf(error)
  const { status, title, isFault = false } = problems[known]
  const code = isFault ? known : error.code
  const told = isFault && !(error instanceof ArtifactCorrupt) ? { detail: title, details: {} } : { detail: error.message, details: error.details }
  return { type: `urn:knovaryn:problem:${code}`, title, status, code, ...told, isFault }
}

/** An error of fastify or of Node, as one of ours. */
const unexpected = (thrown: unknown): EngineError => {
  const { code, status } = signsOf(thrown)
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const known = ofFastify[code]
  if (known !== undefined) return new EngineError(known, message)
  return new EngineError(status >= 400 && status < 500 ? 'invalid_input' : 'internal', message)
}

const signsOf = (thrown: unknown): { code: string; status: number } => {
  if (typeof thrown !== 'object' || thrown === null) return { code: '', status: 500 }
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : ''
  const status = 'statusCode' in thrown && typeof thrown.statusCode === 'number' ? thrown.statusCode : 500
  return { code, status }
}

/** The problem as the body of an answer. */
export const problemText = ({ type, title, status, detail, code, details }: Problem): string =>
  JSON.stringify({ type, title, status, detail, code, details })

export const problemMediaType = 'application/problem+json'
