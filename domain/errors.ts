/** Everything the engine raises on purpose. `code` is stable; `details` is plain JSON. */
export class EngineError extends Error {
  readonly code: string
  readonly details: Readonly<Record<string, unknown>>
  constructor(code: string, message: string, details: Readonly<Record<string, unknown>> = {}) {
    super(message)
    this.name = new.target.name
    this.code = code
    this.details = details
  }
}

/** A command that the job's state does not allow. */
export class JobStateError extends EngineError {}

/** A limit would be crossed. Raised before anything is spent. */
export class BudgetExceededError extends EngineError {}

/** The content or the provider's policy forbids the work. Never retried. */
export class PolicyBlockError extends EngineError {}

/** The key is taken by a job with another payload. */
export class IdempotencyConflictError extends EngineError {}

/** Whoever writes does not own the job any more. */
export class LeaseLostError extends EngineError {}

/** Input that breaks a rule. Raised before anything is written. */
export class InvalidInputError extends EngineError {
  constructor(message: string, details: Readonly<Record<string, unknown>> = {}, code = 'invalid_input') {
    super(code, message, details)
  }
}

/** Whoever asks may not do this, though others may. Raised before anything is read or written. */
export class ForbiddenError extends EngineError {
  constructor(message: string, details: Readonly<Record<string, unknown>> = {}, code = 'forbidden') {
    super(code, message, details)
  }
}

/** The stream has moved on: somebody else wrote first. */
export class RevisionConflict extends EngineError {
  constructor(stream: string, expected: 'no-stream' | number, actual: 'no-stream' | number) {
    super('revision_conflict', `stream ${stream} is at ${actual}, expected ${expected}`, { stream, expected, actual })
  }
}

/** The append is over the portable limit. Nothing was written. */
export class AppendTooLarge extends EngineError {
  constructor(stream: string, bytes: number, bytesMax: number) {
    super('append_too_large', `an append of ${bytes} bytes to ${stream} is over the limit of ${bytesMax}`, {
      stream,
      bytes,
      bytesMax,
    })
  }
}

/** The store cannot answer now (busy, full, away). Asking again later may work. */
export class StoreUnavailable extends EngineError {
  constructor(message: string, details: Readonly<Record<string, unknown>> = {}) {
    super('store_unavailable', message, details)
  }
}

/** Stored bytes are not what their name says. */
export class ArtifactCorrupt extends EngineError {
  constructor(sha256: string, message: string) {
    super('artifact_corrupt', message, { sha256 })
  }
}

export type FailureKind = 'transient' | 'provider' | 'policy_block' | 'invalid_input' | 'bug'

/** What a provider's wait header said: shortened as it stood, and as milliseconds where it could be read. */
export type RetryAfter = { readonly raw: string; readonly ms: number | null }

/**
 * A send that brought no answer.
 * `billed` says whether the provider may charge for it: `no`, or `unknown` (its worst case is then held).
 */
export class ProviderError extends EngineError {
  readonly kind: FailureKind
  readonly billed: 'no' | 'unknown'
  /** Whether a `provider` failure is worth another try; `transient` always is. */
  readonly retryable: boolean
  readonly retryAfter: RetryAfter | null
  readonly status: number | null
  constructor(failure: {
    code: string
    message: string
    kind: FailureKind
    billed: 'no' | 'unknown'
    retryable?: boolean
    retryAfter?: RetryAfter | null
    status?: number | null
  }) {
    super(failure.code, failure.message, { status: failure.status ?? null })
    this.kind = failure.kind
    this.billed = failure.billed
    this.retryable = failure.retryable ?? failure.kind === 'transient'
    this.retryAfter = failure.retryAfter ?? null
    this.status = failure.status ?? null
  }
}
