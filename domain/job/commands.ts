import { z } from 'zod'
import { Usd } from '../money.ts'
import { Usage } from '../pricing.ts'
import {
  Amounts,
  Content,
  eventData,
  FailureKindName,
  Instant,
  JobSpec,
  LeaseMs,
  PauseReason,
  Progress,
  ProviderName,
  RaisedLimits,
  Sha256Hex,
} from './events.ts'

const Name = z.string().min(1).max(200)
const Key = z.string().max(500)
const Count = z.int().nonnegative()

/** Who asks and when. `commandId` is the same in every repeat of one wish. */
const asked = { commandId: Name, actor: Name, at: Instant }
/** What an owner writes carries its fencing token. */
const owned = { ...asked, token: z.int().positive() }
const progress = { progress: Progress.optional() }

const RetryAfter = z.strictObject({ raw: z.string().max(100), ms: z.number().nullable() })

const Failure = z.strictObject({
  errorCode: Name,
  errorSummary: z.string(),
  errorKind: FailureKindName,
  retryable: z.boolean(),
})
export type Failure = z.infer<typeof Failure>

// ── People's ─────────────────────────────────────────────────────────────────────────────────────────────────────

const SubmitJob = z.strictObject({ type: z.literal('SubmitJob'), ...asked, spec: JobSpec })
const PauseJob = z.strictObject({ type: z.literal('PauseJob'), ...asked })
/** `limits` are the new totals, for a job that paused because a limit stopped it. */
const ResumeJob = z.strictObject({ type: z.literal('ResumeJob'), ...asked, limits: RaisedLimits.optional() })
const CancelJob = z.strictObject({ type: z.literal('CancelJob'), ...asked })
const RetryJob = z.strictObject({ type: z.literal('RetryJob'), ...asked })
/** The new totals; lowering one is refused. */
const RaiseBudget = z.strictObject({ type: z.literal('RaiseBudget'), ...asked, limits: RaisedLimits })
/** A person found out what became of a held call. */
const ReconcileCall = z.strictObject({
  type: z.literal('ReconcileCall'),
  ...asked,
  ...eventData.ProviderCallReconciled.omit({ overrun: true }).shape,
})

// ── Of whoever wants to own the job, or sees that its owner is gone ──────────────────────────────────────────────

const ClaimJob = z.strictObject({
  type: z.literal('ClaimJob'),
  ...asked,
  owner: Name,
  leaseMs: LeaseMs,
})
/** `ownerRevision` is that of the owner's last event seen: refused if the owner has written since. */
const ExpireLease = z.strictObject({
  type: z.literal('ExpireLease'),
  ...asked,
  token: z.int().positive(),
  ownerRevision: Count,
  reason: z.enum(['expired', 'owner_gone']),
})
/** `retryRevision` is that of the RetryScheduled whose wait has passed. */
const ElapseBackoff = z.strictObject({ type: z.literal('ElapseBackoff'), ...asked, retryRevision: Count })

// ── The owner's ──────────────────────────────────────────────────────────────────────────────────────────────────

const StartJob = z.strictObject({ type: z.literal('StartJob'), ...owned })
const RenewLease = z.strictObject({
  type: z.literal('RenewLease'),
  ...owned,
  ...eventData.LeaseRenewed.shape,
})
const ReleaseLease = z.strictObject({
  type: z.literal('ReleaseLease'),
  ...owned,
  reason: z.enum(['drain', 'not_runnable']),
  ...progress,
})
/** The attempt did not succeed: decides between another try and the end. `luck` is in [0, 1). */
const FailAttempt = z.strictObject({
  type: z.literal('FailAttempt'),
  ...owned,
  failure: Failure,
  luck: z.number().min(0).max(1),
  retryAfter: RetryAfter.optional(),
  ...progress,
})
/** Gives the job back for a wait that the provider asked for, or that is too long to hold a lease through. */
const WaitOut = z.strictObject({
  type: z.literal('WaitOut'),
  ...owned,
  failure: Failure,
  delayMs: Count,
  delayReason: z.enum(['backoff', 'retry_after']),
  luck: z.number().min(0).max(1),
  retryAfter: RetryAfter.optional(),
  ...progress,
})
const BeginPause = z.strictObject({
  type: z.literal('BeginPause'),
  ...owned,
  reason: PauseReason,
  detail: z.string().optional(),
  /** With `budget_exhausted`: the limit, and what the refused call would have needed. */
  exhausted: eventData.BudgetExhausted.optional(),
})
const FinishPause = z.strictObject({ type: z.literal('FinishPause'), ...owned, ...progress })
const BeginCancel = z.strictObject({ type: z.literal('BeginCancel'), ...owned })
const FinishCancel = z.strictObject({ type: z.literal('FinishCancel'), ...owned, ...progress })
const SucceedJob = z.strictObject({ type: z.literal('SucceedJob'), ...owned, output: Content })

const RecordCheckpoint = z.strictObject({
  type: z.literal('RecordCheckpoint'),
  ...owned,
  ...eventData.CheckpointRecorded.shape,
})
const CompleteStage = z.strictObject({
  type: z.literal('CompleteStage'),
  ...owned,
  ...eventData.StageCompleted.shape,
})
const InvalidateCheckpoint = z.strictObject({
  type: z.literal('InvalidateCheckpoint'),
  ...owned,
  ...eventData.CheckpointInvalidated.shape,
})
const AcceptExamples = z.strictObject({
  type: z.literal('AcceptExamples'),
  ...owned,
  ...eventData.ExamplesAccepted.shape,
})
const LogJob = z.strictObject({ type: z.literal('LogJob'), ...owned, ...eventData.JobLogged.shape })

const ReserveCall = z.strictObject({
  type: z.literal('ReserveCall'),
  ...owned,
  callKey: z.string().min(1).max(400),
  fingerprint: Sha256Hex,
  stage: Name,
  key: Key,
  provider: ProviderName,
  model: Name,
  worstCase: Amounts,
  takesOver: z.int().positive().optional(),
})
const SettleCall = z.strictObject({
  type: z.literal('SettleCall'),
  ...owned,
  call: z.int().positive(),
  /** Null: the provider's numbers cannot be, and the worst case is charged. */
  usage: Usage.nullable(),
  /** What the usage costs; not looked at when `usage` is null. */
  costUsd: Usd,
  answer: Content,
  durationMs: Count,
  ...progress,
})
const FailCall = z.strictObject({
  type: z.literal('FailCall'),
  ...owned,
  ...eventData.ProviderCallFailed.shape,
})

export const Command = z.discriminatedUnion('type', [
  SubmitJob,
  PauseJob,
  ResumeJob,
  CancelJob,
  RetryJob,
  RaiseBudget,
  ReconcileCall,
  ClaimJob,
  ExpireLease,
  ElapseBackoff,
  StartJob,
  RenewLease,
  ReleaseLease,
  FailAttempt,
  WaitOut,
  BeginPause,
  FinishPause,
  BeginCancel,
  FinishCancel,
  SucceedJob,
  RecordCheckpoint,
  CompleteStage,
  InvalidateCheckpoint,
  AcceptExamples,
  LogJob,
  ReserveCall,
  SettleCall,
  FailCall,
])
export type Command = z.infer<typeof Command>
export type CommandType = Command['type']
export type CommandOf<T extends CommandType> = Extract<Command, { type: T }>
export type PeoplesCommand = CommandOf<
  'SubmitJob' | 'PauseJob' | 'ResumeJob' | 'CancelJob' | 'RetryJob' | 'RaiseBudget' | 'ReconcileCall'
>
/** Every command that carries the owner's token. */
export type OwnersCommand = Exclude<Command, PeoplesCommand | CommandOf<'ClaimJob' | 'ExpireLease' | 'ElapseBackoff'>>
