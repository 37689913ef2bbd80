import type { JobId } from '../ids.ts'
import type { Usd } from '../money.ts'
import type { Amounts, Content, EventData, JobSpec, Limits, PauseReason, Progress } from './events.ts'

export const jobStates = [
  'queued',
  'leased',
  'running',
  'retry_wait',
  'pausing',
  'paused',
  'cancelling',
  'cancelled',
  'succeeded',
  'failed',
] as const
export type JobState = (typeof jobStates)[number]

/** The right to write to a job, for a time. */
export type Lease = {
  token: number
  owner: string
  leaseMs: number
  /** For people; observers go by elapsed time. */
  expiresAt: string
  heartbeatAt: string
  /** Revision of the owner's last event. */
  ownerRevision: number
  /** When the owner started, or null while the job is only leased. */
  startedAt: string | null
  /** What the job's duration was at the start. */
  durationMsBefore: number
}

/** A send that may be under way. */
export type Reservation = {
  callKey: string
  fingerprint: string
  stage: string
  key: string
  provider: string
  model: string
  worstCase: Amounts
  reservedAt: string
}

export type Money = { spent: Amounts; held: Amounts; reserved: Amounts }

/** What a job that waits is waiting for, and until when, where that is known. */
export type WaitingFor = { reason: string; until: string | null }

/**
 * One job, folded from its events: counters, open reservations, holds and the stage at work. It never holds what
 * grows with the work done (completed calls, checkpoint keys): its owner keeps those in an index.
 * Plain JSON, so that a snapshot is its text.
 */
export type Job = {
  jobId: JobId
  spec: JobSpec
  state: JobState
  revision: number
  /** Stages completed; the stage at work is `spec.stages[stageIndex]`. */
  stageIndex: number
  progress: Progress | null
  checkpoint: { stage: string; key: string; at: string } | null

  lastToken: number
  lease: Lease | null
  attemptCount: number
  lostLeaseCount: number
  retry: { at: string; delayMs: number; revision: number; reason: string } | null
  waitingFor: WaitingFor | null

  limits: Limits
  money: Money
  byProvider: Record<string, { calls: number; costUsd: Usd }>
  lastCall: number
  open: Record<string, Reservation>
  /** Sends whose outcome nobody knows, each at its worst case, until a person reconciles it. */
  holds: Record<string, Reservation>
  /** A bill above its worst case that nobody has answered with a resume yet. */
  overrun: boolean
  /** What the job paused for, when a limit stopped it. */
  exhausted: EventData<'BudgetExhausted'> | null
  durationMs: number

  pauseRequestedAt: string | null
  pauseReason: PauseReason | null
  /** A resume that came while the job was still pausing. */
  resumeRequested: boolean
  cancellationRequestedAt: string | null
  /** Explicit resumes and retries that took effect: a further one of a job already at work is a repeat. */
  resumeCount: number
  retryCount: number
  /** Ids of people's commands that took effect. */
  commandIds: string[]
  /** The command of the last event: its repeat is known whoever sent it. */
  lastCommandId: string

  error: { code: string; summary: string; kind: string } | null
  output: Content | null
  createdAt: string
  startedAt: string | null
  finishedAt: string | null
}

export const terminalStates: ReadonlySet<JobState> = new Set(['succeeded', 'failed', 'cancelled'])
export const isTerminal = (state: JobState): boolean => terminalStates.has(state)

/** The name of the stage at work, or null when all are done. */
export const stageAtWork = (job: Job): string | null => job.spec.stages[job.stageIndex] ?? null
