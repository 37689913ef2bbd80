import type { JobId } from '../ids.ts'
import type { Usd } from '../money.ts'
import type { Content, JobSpec, Limits, Progress } from './events.ts'
import { type Job, type JobState, stageAtWork, type WaitingFor } from './job.ts'

/** The job as every outer surface shows it. Money is decimal US dollars, instants are ISO 8601 UTC. */
export type JobDocument = {
  readonly jobId: JobId
  /** True when a submit met a job that was there already. */
  readonly existing: boolean
  readonly projectId: string
  readonly type: string
  readonly definitionVersion: number
  readonly state: JobState
  readonly stage: string | null
  readonly stageIndex: number
  readonly stages: readonly string[]
  readonly progress: Progress | null
  readonly waitingFor: WaitingFor | null
  readonly attemptCount: number
  readonly maxAttempts: number
  readonly lostLeaseCount: number
  readonly leaseOwner: string | null
  readonly leaseToken: number | null
  readonly leaseExpiresAt: string | null
  readonly heartbeatAt: string | null
  readonly retryAt: string | null
  readonly idempotencyKey: string
  readonly inputConfigHash: string
  readonly priority: number
  readonly labels: Readonly<Record<string, string>>
  readonly checkpoint: Job['checkpoint']
  /** The most the whole job can cost, as estimated at submit. */
  readonly estimatedCostUsd: Usd | null
  readonly actualCostUsd: Usd
  readonly budget: Limits & {
    readonly spentCostUsd: Usd
    readonly heldCostUsd: Usd
    readonly reservedCostUsd: Usd
    /** Sends that were or may yet be billed: settled, held and open. */
    readonly callsMade: number
    readonly inputTokens: number
    readonly outputTokens: number
    readonly examplesProduced: number
    readonly durationSeconds: number
    readonly providers: Job['byProvider']
  }
  readonly priceProfile: JobSpec['priceProfile']
  readonly pauseRequestedAt: string | null
  readonly cancellationRequestedAt: string | null
  readonly errorCode: string | null
  readonly errorSummary: string | null
  readonly output: Content | null
  readonly createdAt: string
  readonly startedAt: string | null
  readonly finishedAt: string | null
  readonly revision: number
}

export const jobDocument = (job: Job, existing = true): JobDocument => {
  const { spec, lease, money } = job
  const { spent, held, reserved } = money
  const isPaused = job.state === 'paused' || job.state === 'pausing'
  return {
    jobId: job.jobId,
    existing,
    projectId: spec.projectId,
    type: spec.type,
    definitionVersion: spec.definitionVersion,
    state: job.state,
    stage: stageAtWork(job),
    stageIndex: job.stageIndex,
    stages: spec.stages,
    progress: job.progress,
    waitingFor: job.waitingFor,
    attemptCount: job.attemptCount,
    maxAttempts: spec.maxAttempts,
    lostLeaseCount: job.lostLeaseCount,
    leaseOwner: lease?.owner ?? null,
    leaseToken: lease?.token ?? null,
    leaseExpiresAt: lease?.expiresAt ?? null,
    heartbeatAt: lease?.heartbeatAt ?? null,
    retryAt: job.retry?.at ?? null,
    idempotencyKey: spec.idempotencyKey,
    inputConfigHash: spec.inputConfigHash,
    priority: spec.priority,
    labels: spec.labels,
    checkpoint: job.checkpoint,
    estimatedCostUsd: spec.estimatedCostUsd,
    actualCostUsd: spent.costUsd,
    budget: {
      ...job.limits,
      spentCostUsd: spent.costUsd,
      heldCostUsd: held.costUsd,
      reservedCostUsd: reserved.costUsd,
      callsMade: spent.calls + held.calls + reserved.calls,
      inputTokens: spent.inputTokens,
      outputTokens: spent.outputTokens,
      examplesProduced: spent.examples,
      durationSeconds: job.durationMs / 1_000,
      providers: job.byProvider,
    },
    priceProfile: spec.priceProfile,
    pauseRequestedAt: job.pauseRequestedAt,
    cancellationRequestedAt: job.cancellationRequestedAt,
    errorCode: isPaused ? pauseCode(job) : (job.error?.code ?? null),
    errorSummary: isPaused ? pauseSummary(job) : (job.error?.summary ?? null),
    output: job.output,
    createdAt: job.createdAt,
    startedAt: job.startedAt,
    finishedAt: job.finishedAt,
    revision: job.revision,
  }
}

/** Why the job paused; null when somebody asked it to. */
const pauseCode = (job: Job): string | null => (job.pauseReason === 'user' ? null : job.pauseReason)

const pauseSummary = (job: Job): string | null => {
  switch (job.pauseReason) {
    case 'budget_exhausted':
      return `${job.exhausted?.limit ?? 'a limit'} has no room for the next call`
    case 'overrun':
      return 'a call was billed above its worst case'
    case 'artifact_missing':
      return 'a stored result is gone, and making it again would repeat a paid call'
    case 'unknown_outcome':
      return 'nobody knows whether a call was billed'
    default:
      return null
  }
}
