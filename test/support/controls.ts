import type { Command, CommandOf, CommandType } from '../../domain/job/commands.ts'
import type { Amounts, EventData, EventType, JobSpec, Limits, NewEvent } from '../../domain/job/events.ts'
import { JobId } from '../../domain/ids.ts'
import { usd } from '../../domain/money.ts'

/** The one home of test data: one valid example of everything. A test overrides only its subject. */

export const jobId = JobId.parse('0123456789abcdef0123456789abcdef')
export const projectId = 'default'

/** An instant `seconds` after the examples' first one. */
export const instant = (seconds: number): string => new Date(Date.UTC(2026, 0, 1) + seconds * 1_000).toISOString()

/** US dollars from thousandths of one. */
export const milliUsd = (thousandths: number) => usd(BigInt(thousandths) * 1_000_000n)

/** A SHA-256 that is easy to tell from another. */
export const sha = (digit: string): string => digit.repeat(64)

export const noLimits: Limits = {
  maximumCostUsd: null,
  maximumCalls: null,
  maximumInputTokens: null,
  maximumOutputTokens: null,
  maximumDurationSeconds: null,
  maximumExamples: null,
}

/** Room for exactly ten calls at the worst case of `amounts()`, in every limit. */
export const limits = (overrides: Partial<Limits> = {}): Limits => ({
  maximumCostUsd: milliUsd(1_000),
  maximumCalls: 10,
  maximumInputTokens: 1_000,
  maximumOutputTokens: 2_000,
  maximumDurationSeconds: 3_600,
  maximumExamples: 10,
  ...overrides,
})

/** The worst case of one call. */
export const amounts = (overrides: Partial<Amounts> = {}): Amounts => ({
  costUsd: milliUsd(100),
  calls: 1,
  inputTokens: 100,
  outputTokens: 200,
  examples: 1,
  ...overrides,
})

export const usage = { inputTokens: 80, cachedInputTokens: 10, cacheWriteTokens: 0, outputTokens: 150 }

export const spec = (overrides: Partial<JobSpec> = {}): JobSpec => ({
  projectId,
  type: 'batch',
  definitionVersion: 1,
  stages: ['intake', 'generate'],
  input: { json: { lines: 3 } },
  provider: { name: 'offline', baseUrl: null },
  model: 'small',
  parameters: { temperature: 0 },
  target: null,
  inputConfigHash: sha('1'),
  idempotencyKey: 'the-key',
  limits: limits(),
  rateLimits: {},
  priceProfile: { id: 'prices', sha256: sha('2') },
  allowUnpriced: [],
  maxAttempts: 3,
  callAttempts: 3,
  maxLostLeases: 3,
  onUnknown: 'resend',
  estimatedCostUsd: milliUsd(300),
  concurrency: 2,
  priority: 0,
  labels: { team: 'red' },
  startAfter: null,
  ...overrides,
})

const failure = { errorCode: 'timeout', errorSummary: 'no answer in time', errorKind: 'transient' as const }

/** One valid example of every event's data. Together they are things that happen to the job of `spec()`. */
export const eventExamples: { readonly [T in EventType]: EventData<T> } = {
  JobSubmitted: spec(),
  JobLeased: { token: 1, owner: 'worker-a', leaseMs: 60_000, leaseExpiresAt: instant(60) },
  JobStarted: {},
  LeaseRenewed: {},
  LeaseExpired: { token: 1, reason: 'expired' },
  LeaseReleased: { reason: 'drain' },
  RetryScheduled: {
    ...failure,
    retryAt: instant(61),
    delayMs: 1_000,
    delayReason: 'backoff',
    luck: 1,
    countsAsAttempt: true,
  },
  BackoffElapsed: {},
  JobRetried: {},
  PauseRequested: {},
  JobPausing: { reason: 'user' },
  JobPaused: { reason: 'user' },
  JobResumed: {},
  CancellationRequested: {},
  JobCancelling: {},
  JobCancelled: {},
  JobSucceeded: { output: { json: { results: 3 } } },
  JobFailed: { errorCode: 'bad_request', errorSummary: 'the model refused the request', errorKind: 'invalid_input' },
  CheckpointRecorded: { stage: 'intake', key: 'line-1', value: { json: { line: 1 } } },
  StageCompleted: { stage: 'intake', startedAt: instant(1), durationMs: 1_000, result: { json: { lines: 3 } } },
  CheckpointInvalidated: { stage: 'intake', sha256: sha('3'), reason: 'missing' },
  ExamplesAccepted: { stage: 'intake', key: 'line-1', count: 1, examples: { json: [{ question: 'q', answer: 'a' }] } },
  JobLogged: { level: 'info', message: 'reading' },
  ProviderCallReserved: {
    call: 1,
    callKey: 'key-1',
    fingerprint: sha('4'),
    stage: 'intake',
    key: 'line-1',
    provider: 'offline',
    model: 'small',
    worstCase: amounts(),
  },
  ProviderCallSettled: { call: 1, usage, costUsd: milliUsd(60), answer: { json: { text: 'a' } }, durationMs: 700 },
  ProviderCallFailed: { call: 1, ...failure, billed: 'unknown' },
  ProviderCallOrphaned: { call: 1 },
  ProviderCallReconciled: { call: 1, costUsd: milliUsd(50), inputTokens: 90, outputTokens: 150, billed: true },
  BudgetExhausted: { limit: 'maximumCalls', needs: amounts() },
  BudgetRaised: { limits: { maximumCalls: 20 } },
}

const asked = { actor: 'ann', at: instant(1_000) }
const owned = { ...asked, actor: 'worker:worker-a', token: 1 }
const attemptFailed = { ...failure, retryable: true }
const { call: _call, ...reservation } = eventExamples.ProviderCallReserved

type Unasked<T extends CommandType> = Omit<CommandOf<T>, 'type' | 'commandId'>

/** One valid example of every command. */
const commandExamples: { readonly [T in CommandType]: Unasked<T> } = {
  SubmitJob: { ...asked, spec: spec() },
  PauseJob: asked,
  ResumeJob: asked,
  CancelJob: asked,
  RetryJob: asked,
  RaiseBudget: { ...asked, ...eventExamples.BudgetRaised },
  ReconcileCall: { ...asked, ...eventExamples.ProviderCallReconciled },
  ClaimJob: { ...asked, actor: 'worker:worker-a', owner: 'worker-a', leaseMs: 60_000 },
  ExpireLease: { ...asked, actor: 'worker:worker-b', token: 1, ownerRevision: 1_000, reason: 'expired' },
  ElapseBackoff: { ...asked, actor: 'worker:worker-b', retryRevision: 3 },
  StartJob: owned,
  RenewLease: owned,
  ReleaseLease: { ...owned, reason: 'drain' },
  FailAttempt: { ...owned, failure: attemptFailed, luck: 0.5 },
  WaitOut: { ...owned, failure: attemptFailed, delayMs: 20_000, delayReason: 'retry_after', luck: 0.5 },
  BeginPause: { ...owned, reason: 'user' },
  FinishPause: owned,
  BeginCancel: owned,
  FinishCancel: owned,
  SucceedJob: { ...owned, ...eventExamples.JobSucceeded },
  RecordCheckpoint: { ...owned, ...eventExamples.CheckpointRecorded },
  CompleteStage: { ...owned, ...eventExamples.StageCompleted },
  InvalidateCheckpoint: { ...owned, ...eventExamples.CheckpointInvalidated },
  AcceptExamples: { ...owned, ...eventExamples.ExamplesAccepted },
  LogJob: { ...owned, ...eventExamples.JobLogged },
  ReserveCall: { ...owned, ...reservation },
  SettleCall: { ...owned, ...eventExamples.ProviderCallSettled },
  FailCall: { ...owned, ...eventExamples.ProviderCallFailed },
}

/** An event that a test gives; `token` when the lease that wrote it is not the one of the moment. */
export type GivenEvent<T extends EventType = EventType> = Extract<NewEvent, { type: T }> & { readonly token?: number }

type EventBuilders = {
  readonly [T in EventType]: (overrides?: Partial<EventData<T>>, written?: { token: number }) => GivenEvent<T>
}
type CommandBuilders = {
  readonly [T in CommandType]: (overrides?: Partial<CommandOf<T>>) => CommandOf<T>
}

export const commandTypes = Object.keys(commandExamples) as readonly CommandType[]
export const eventTypes = Object.keys(eventExamples) as readonly EventType[]

/** `event.JobLeased({ token: 2 })`: the example of that event, with what the test is about put in its place. */
export const event = Object.fromEntries(
  eventTypes.map((type) => [
    type,
    (overrides: object, written: object) => ({ type, data: { ...eventExamples[type], ...overrides }, ...written }),
  ]),
) as EventBuilders

let commandsMade = 0

/** `command.ClaimJob({ owner: 'b' })`: the example of that command, each under a `commandId` of its own. */
export const command = Object.fromEntries(
  commandTypes.map((type) => [
    type,
    (overrides: object) => {
      commandsMade += 1
      return { type, commandId: `command-${commandsMade}`, ...commandExamples[type], ...overrides }
    },
  ]),
) as CommandBuilders

/** The same command, as somebody who never heard the answer sends it again. */
export const again = <C extends Command>(repeated: C): C => ({ ...repeated })
