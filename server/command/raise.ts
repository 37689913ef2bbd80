import {
  BudgetExceededError,
  type EngineError,
  IdempotencyConflictError,
  InvalidInputError,
  JobStateError,
  LeaseLostError,
  PolicyBlockError,
} from '../../domain/errors.ts'
import type { Rejection, RejectionCode } from '../../domain/rejection.ts'

type Raised = (rejection: Rejection) => EngineError

const jobState: Raised = ({ rejected, message, details }) => new JobStateError(rejected, message, details)
const budget: Raised = ({ rejected, message, details }) => new BudgetExceededError(rejected, message, details)
const input: Raised = ({ rejected, message, details }) => new InvalidInputError(message, details, rejected)

/** What a refusal is raised as at the engine's edge. */
const raisedAs: Readonly<Record<RejectionCode, Raised>> = {
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
  budget_exhausted: budget,
  overrun: budget,
  limit_lower: input,
  lease_lost: ({ rejected, message, details }) => new LeaseLostError(rejected, message, details),
  policy_block: ({ rejected, message, details }) => new PolicyBlockError(rejected, message, details),
  idempotency_conflict: ({ rejected, message, details }) => new IdempotencyConflictError(rejected, message, details),
}

export const raised = (rejection: Rejection): EngineError => raisedAs[rejection.rejected](rejection)
