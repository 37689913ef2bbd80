import {
  AppendTooLarge,
  ArtifactCorrupt,
  BudgetExceededError,
  EngineError,
  ForbiddenError,
  IdempotencyConflictError,
  InvalidInputError,
  JobStateError,
  LeaseLostError,
  PolicyBlockError,
  RevisionConflict,
  StoreUnavailable,
} from './errors.ts'
import type { RejectionCode } from './rejection.ts'

/** What an error says of itself, as it goes over a border. */
export type ToldError = {
  readonly code: string
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

type Made = (told: ToldError) => EngineError

const jobState: Made = ({ code, message, details }) => new JobStateError(code, message, details)
const budget: Made = ({ code, message, details }) => new BudgetExceededError(code, message, details)
const input: Made = ({ code, message, details }) => new InvalidInputError(message, details, code)
const forbidden: Made = ({ code, message, details }) => new ForbiddenError(message, details, code)
const plain: Made = ({ code, message, details }) => new EngineError(code, message, details)
const unavailable: Made = ({ message, details }) => new StoreUnavailable(message, details)

type OtherCode =
  | 'invalid_input'
  | 'unpriced_model'
  | 'foreign_position'
  | 'ambiguous_handle'
  | 'artifact_missing'
  | 'artifact_corrupt'
  | 'revision_conflict'
  | 'append_too_large'
  | 'store_unavailable'
  | 'closing'
  | 'forbidden'
  | 'forbidden_provider'
  | 'forbidden_base_url'
  | 'unauthenticated'
  | 'rate_limited'
  | 'body_too_large'
  | 'artifact_not_found'
  | 'internal'

/** The one table from a code to the error that it is raised as. */
export const madeAs: Readonly<Record<RejectionCode | OtherCode, Made>> = {
  job_not_found: jobState,
  job_state: jobState,
  not_due: jobState,
  calls_open: jobState,
  pause_requested: jobState,
  cancel_requested: jobState,
  unreconciled_calls: jobState,
  call_in_flight: jobState,
  call_not_held: jobState,
  wrong_stage: jobState,
  newer_schema: jobState,
  ambiguous_handle: jobState,
  artifact_missing: jobState,
  budget_exhausted: budget,
  overrun: budget,
  limit_lower: input,
  invalid_input: input,
  unpriced_model: input,
  foreign_position: input,
  lease_lost: ({ code, message, details }) => new LeaseLostError(code, message, details),
  policy_block: ({ code, message, details }) => new PolicyBlockError(code, message, details),
  idempotency_conflict: ({ code, message, details }) => new IdempotencyConflictError(code, message, details),
  revision_conflict: ({ details }) => new RevisionConflict(text(details['stream']), revision(details['expected']), revision(details['actual'])),
  append_too_large: ({ details }) => new AppendTooLarge(text(details['stream']), Number(details['bytes']), Number(details['bytesMax'])),
  artifact_corrupt: ({ message, details }) => new ArtifactCorrupt(text(details['sha256']), message),
  store_unavailable: unavailable,
  closing: unavailable,
  forbidden,
  forbidden_provider: forbidden,
  forbidden_base_url: forbidden,
  unauthenticated: plain,
  rate_limited: plain,
  body_too_large: plain,
  artifact_not_found: plain,
  internal: plain,
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '')
const revision = (value: unknown): number | 'no-stream' => (typeof value === 'number' ? value : 'no-stream')

const isKnown = (code: string): code is keyof typeof madeAs => Object.hasOwn(madeAs, code)

/** The error of this code, in the class that it is raised as wherever it comes from; null for a code that has none. */
export const errorOf = (told: ToldError): EngineError | null => (isKnown(told.code) ? madeAs[told.code](told) : null)
