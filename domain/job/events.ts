import { z } from 'zod'
import type { JobId } from '../ids.ts'
import { Usd } from '../money.ts'
import { Usage } from '../pricing.ts'
import { recordOf } from '../recordOf.ts'

// ── Parts ────────────────────────────────────────────────────────────────────────────────────────────────────────

export const Instant = z.iso.datetime({ precision: 3 })
export const Sha256Hex = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits')
const Count = z.int().nonnegative()
const Name = z.string().min(1).max(200)
export const ProviderName = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]{0,99}$/, 'must be lower-case letters, digits, ".", "_" or "-"')

export const ArtifactRef = z.strictObject({ sha256: Sha256Hex, bytes: Count, mediaType: Name })
export type ArtifactRef = z.infer<typeof ArtifactRef>

/** A JSON value: in the event itself, or, when its text is over `inlineBytesMax`, as a stored artifact. */
export const Content = z.union([z.strictObject({ json: z.unknown() }), z.strictObject({ artifact: ArtifactRef })])
export type Content = z.infer<typeof Content>

/** Anything larger, in bytes, goes to the artifact store first. */
export const inlineBytesMax = 16_384

/** At most a day. */
export const LeaseMs = z.int().positive().max(86_400_000)

/** How far the stage at work says it is. */
export const Progress = z.strictObject({ done: Count, total: Count.nullable(), unit: Name })
export type Progress = z.infer<typeof Progress>

/** Null: no cap. */
export const Limits = z.strictObject({
  maximumCostUsd: Usd.nullable(),
  maximumCalls: Count.nullable(),
  maximumInputTokens: Count.nullable(),
  maximumOutputTokens: Count.nullable(),
  maximumDurationSeconds: z.number().nonnegative().nullable(),
  maximumExamples: Count.nullable(),
})
export type Limits = z.infer<typeof Limits>
export type LimitName = keyof Limits

export const RaisedLimits = Limits.partial()
export type RaisedLimits = z.infer<typeof RaisedLimits>

/** What is spent, held or reserved, in everything that has a limit. */
export const Amounts = z.strictObject({
  costUsd: Usd,
  calls: Count,
  inputTokens: Count,
  outputTokens: Count,
  examples: Count,
})
export type Amounts = z.infer<typeof Amounts>

export const RateLimits = z.strictObject({
  requestsPerMinute: z.int().positive().optional(),
  tokensPerMinute: z.int().positive().optional(),
  maximumConcurrency: z.int().positive().optional(),
})
export type RateLimits = z.infer<typeof RateLimits>

export const FailureKindName = z.enum(['transient', 'provider', 'policy_block', 'invalid_input', 'bug'])

export const PauseReason = z.enum(['user', 'budget_exhausted', 'overrun', 'artifact_missing', 'unknown_outcome'])
export type PauseReason = z.infer<typeof PauseReason>

/** Whatever a job was asked to be. Fixed at submit; what may change later is kept beside it. */
export const JobSpec = z.strictObject({
  projectId: Name,
  type: Name,
  definitionVersion: z.int().positive(),
  stages: z
    .array(Name)
    .min(1)
    .max(100)
    .refine((stages) => new Set(stages).size === stages.length, 'must each have a name of their own'),
  input: Content,
  provider: z.strictObject({ name: ProviderName, baseUrl: z.string().max(2_000).nullable() }).nullable(),
  model: Name.nullable(),
  /** Call parameters that change what the job computes. */
  parameters: recordOf(Name, z.unknown()),
  target: z.int().positive().nullable(),
  inputConfigHash: Sha256Hex,
  idempotencyKey: z.string().min(1).max(500),
  limits: Limits,
  rateLimits: recordOf(ProviderName, RateLimits),
  priceProfile: z.strictObject({ id: Name, sha256: Sha256Hex }).nullable(),
  allowUnpriced: z.array(Name),
  maxAttempts: z.int().positive(),
  callAttempts: z.int().positive(),
  maxLostLeases: z.int().positive(),
  onUnknown: z.enum(['resend', 'pause']),
  /** The most the whole job can cost by the estimate made at submit, or null where none could be made. */
  estimatedCostUsd: Usd.nullable(),
  /** Calls of this job at one time. */
  concurrency: z.int().positive(),
  /** Higher goes first. */
  priority: z.int().min(-1_000_000).max(1_000_000),
  labels: recordOf(Name, z.string().max(200)),
  startAfter: Instant.nullable(),
})
export type JobSpec = z.infer<typeof JobSpec>

/** One number a reservation of the job, from 1. */
const CallNumber = z.int().positive()

/** The idempotency key a provider is sent: `jobId:fingerprint:n`. */
const CallKey = z.string().min(1).max(400)

const withProgress = { progress: Progress.optional() }

const ended = {
  errorCode: Name,
  errorSummary: z.string(),
  errorKind: FailureKindName,
}

// ── Every event, by type: its data at today's schema version ─────────────────────────────────────────────────────

export const eventData = {
  // Life
  JobSubmitted: JobSpec,
  JobLeased: z.strictObject({
    token: z.int().positive(),
    owner: Name,
    leaseMs: LeaseMs,
    leaseExpiresAt: Instant,
  }),
  JobStarted: z.strictObject({}),
  LeaseRenewed: z.strictObject({
    /** Why the owner is not calling, and until when, where it is known. */
    waitingFor: z.strictObject({ reason: Name, until: Instant.nullable() }).optional(),
    ...withProgress,
  }),
  LeaseExpired: z.strictObject({ token: z.int().positive(), reason: z.enum(['expired', 'owner_gone']) }),
  LeaseReleased: z.strictObject({ reason: z.enum(['drain', 'not_runnable']), ...withProgress }),
  RetryScheduled: z.strictObject({
    ...ended,
    retryAt: Instant,
    delayMs: Count,
    delayReason: z.enum(['backoff', 'retry_after']),
    /** In [0, 1): what the delay was drawn with. */
    luck: z.number().min(0).max(1),
    retryAfter: z.strictObject({ raw: z.string().max(100), ms: z.number().nullable() }).optional(),
    /** False for a wait the provider asked for: it uses up no attempt. */
    countsAsAttempt: z.boolean(),
    ...withProgress,
  }),
  BackoffElapsed: z.strictObject({}),
  JobRetried: z.strictObject({}),
  PauseRequested: z.strictObject({}),
  JobPausing: z.strictObject({ reason: PauseReason, detail: z.string().optional() }),
  JobPaused: z.strictObject({ reason: PauseReason, ...withProgress }),
  JobResumed: z.strictObject({}),
  CancellationRequested: z.strictObject({}),
  JobCancelling: z.strictObject({}),
  JobCancelled: z.strictObject({ ...withProgress }),
  JobSucceeded: z.strictObject({ output: Content }),
  JobFailed: z.strictObject({
    ...ended,
    errorKind: z.enum([...FailureKindName.options, 'worker_lost']),
    ...withProgress,
  }),

  // Work
  CheckpointRecorded: z.strictObject({ stage: Name, key: z.string().max(500), value: Content, ...withProgress }),
  StageCompleted: z.strictObject({
    stage: Name,
    startedAt: Instant,
    durationMs: Count,
    result: Content,
    ...withProgress,
  }),
  CheckpointInvalidated: z.strictObject({ stage: Name, sha256: Sha256Hex, reason: z.enum(['missing', 'corrupt']) }),
  ExamplesAccepted: z.strictObject({
    stage: Name,
    key: z.string().max(500),
    count: Count,
    examples: Content,
    ...withProgress,
  }),
  JobLogged: z.strictObject({ level: z.enum(['info', 'warn', 'error']), message: z.string() }),

  // Money
  ProviderCallReserved: z.strictObject({
    call: CallNumber,
    callKey: CallKey,
    fingerprint: Sha256Hex,
    stage: Name,
    /** The caller's own name for the call. */
    key: z.string().max(500),
    provider: ProviderName,
    model: Name,
    worstCase: Amounts,
    /** The held call whose key is sent again within the time its provider replays it. */
    takesOver: CallNumber.optional(),
  }),
  ProviderCallSettled: z.strictObject({
    call: CallNumber,
    usage: Usage.nullable(),
    costUsd: Usd,
    answer: Content,
    durationMs: Count,
    /** The bill was above the worst case: booked in full. */
    overrun: z.literal(true).optional(),
    /** The provider's numbers cannot be: charged at the worst case. */
    usageInvalid: z.literal(true).optional(),
    /** The answer came after its send was held: the call closes the hold. */
    late: z.literal(true).optional(),
    ...withProgress,
  }),
  ProviderCallFailed: z.strictObject({
    call: CallNumber,
    errorCode: Name,
    errorSummary: z.string(),
    errorKind: FailureKindName,
    billed: z.enum(['no', 'unknown']),
    status: z.int().optional(),
    retryAfter: z.strictObject({ raw: z.string().max(100), ms: z.number().nullable() }).optional(),
    /** The wait chosen before the next send, where there is to be one. */
    delayMs: Count.optional(),
    delayReason: z.enum(['backoff', 'retry_after']).optional(),
    luck: z.number().min(0).max(1).optional(),
  }),
  ProviderCallOrphaned: z.strictObject({ call: CallNumber }),
  ProviderCallReconciled: z.strictObject({
    call: CallNumber,
    costUsd: Usd,
    inputTokens: Count,
    outputTokens: Count,
    billed: z.boolean(),
    /** Billed above the worst case that was held: booked in full. */
    overrun: z.literal(true).optional(),
    note: z.string().max(2_000).optional(),
  }),
  BudgetExhausted: z.strictObject({
    limit: z.string().max(100),
    /** What the refused call would have needed at worst. */
    needs: Amounts,
  }),
  BudgetRaised: z.strictObject({ limits: RaisedLimits }),
} as const

export type EventType = keyof typeof eventData
export type EventData<T extends EventType> = z.infer<(typeof eventData)[T]>

/** Today's version of each event's data. Raise one here together with its upcaster and golden file. */
export const schemaVersions: Readonly<Record<EventType, number>> = {
  JobSubmitted: 1,
  JobLeased: 1,
  JobStarted: 1,
  LeaseRenewed: 1,
  LeaseExpired: 1,
  LeaseReleased: 1,
  RetryScheduled: 1,
  BackoffElapsed: 1,
  JobRetried: 1,
  PauseRequested: 1,
  JobPausing: 1,
  JobPaused: 1,
  JobResumed: 1,
  CancellationRequested: 1,
  JobCancelling: 1,
  JobCancelled: 1,
  JobSucceeded: 1,
  JobFailed: 1,
  CheckpointRecorded: 1,
  StageCompleted: 1,
  CheckpointInvalidated: 1,
  ExamplesAccepted: 1,
  JobLogged: 1,
  ProviderCallReserved: 1,
  ProviderCallSettled: 1,
  ProviderCallFailed: 1,
  ProviderCallOrphaned: 1,
  ProviderCallReconciled: 1,
  BudgetExhausted: 1,
  BudgetRaised: 1,
}

export const EventMeta = z.strictObject({
  projectId: Name,
  /** Who asked: a person's or program's name, or `worker:<id>`. */
  actor: Name,
  commandId: Name,
  /** The fencing token of the owner, in everything the owner writes. */
  leaseToken: z.int().positive().optional(),
})
export type EventMeta = z.infer<typeof EventMeta>

/** What `decide` says has happened. */
export type NewEvent = { [T in EventType]: { readonly type: T; readonly data: EventData<T> } }[EventType]

/** An event in its place in the job, as `evolve` takes it. */
export type PlacedEvent = NewEvent & {
  readonly revision: number
  readonly recordedAt: string
  readonly meta: EventMeta
}

/** An event as it was read from the log, lifted to today's schema. */
export type JobEvent = PlacedEvent & {
  readonly id: string
  readonly schemaVersion: number
  readonly jobId: JobId
  readonly position: string
  readonly hash: string
}

/** An event of a type or version that this program does not know: readable, and its job is not writable. */
export type UnknownEvent = {
  readonly type: 'Unknown'
  readonly storedType: string
  readonly schemaVersion: number
  readonly id: string
  readonly jobId: JobId
  readonly revision: number
  readonly position: string
  readonly recordedAt: string
  readonly hash: string
  readonly data: unknown
  readonly meta: unknown
}
