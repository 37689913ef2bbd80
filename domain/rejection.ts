/** Every way a rule says no. */
export type RejectionCode =
  | 'job_not_found'
  | 'job_state'
  | 'lease_lost'
  | 'not_due'
  | 'calls_open'
  | 'pause_requested'
  | 'cancel_requested'
  | 'budget_exhausted'
  | 'overrun'
  | 'unreconciled_calls'
  | 'limit_lower'
  | 'policy_block'
  | 'idempotency_conflict'
  | 'call_in_flight'
  | 'call_not_held'
  | 'wrong_stage'
  | 'newer_schema'

/** No, as a value. */
export type Rejection = {
  readonly rejected: RejectionCode
  readonly message: string
  readonly details: Readonly<Record<string, unknown>>
}

export const reject = (
  rejected: RejectionCode,
  message: string,
  details: Readonly<Record<string, unknown>> = {},
): Rejection => ({ rejected, message, details })

export const isRejection = (value: object): value is Rejection => 'rejected' in value

/** For the default of a switch over a closed union: a new case breaks the build here. */
export const unreachable = (value: never): never => {
  throw new Error(`unreachable: ${JSON.stringify(value)}`)
}
