import * as fc from 'fast-check'
import type { Command, CommandType } from '../../domain/job/commands.ts'
import type { Amounts, Limits } from '../../domain/job/events.ts'
import type { Job, JobState } from '../../domain/job/job.ts'
import { usd } from '../../domain/money.ts'
import { amounts, command, commandTypes, instant, limits, noLimits, sha, spec } from '../support/controls.ts'

/** One throw of the dice: what is sent is read from it and from how the job stands. */
export type Throw = { readonly kind: number; readonly numbers: readonly number[] }

export const aThrow: fc.Arbitrary<Throw> = fc.record({
  kind: fc.nat(9_999),
  numbers: fc.array(fc.nat(9_999), { minLength: 8, maxLength: 8 }),
})

/** What makes a job in this state go on, more than once where it should come more often. */
const usual: Readonly<Record<JobState, readonly CommandType[]>> = {
  queued: [...Array.from({ length: 8 }, () => 'ClaimJob' as const), 'PauseJob', 'RaiseBudget'],
  leased: [
    ...Array.from({ length: 9 }, () => 'StartJob' as const),
    'ExpireLease',
    'ReleaseLease',
    'PauseJob',
    'CancelJob',
  ],
  running: [
    ...Array.from({ length: 8 }, () => 'ReserveCall' as const),
    ...Array.from({ length: 6 }, () => 'SettleCall' as const),
    ...Array.from({ length: 3 }, () => 'FailCall' as const),
    ...Array.from({ length: 3 }, () => 'CompleteStage' as const),
    'RecordCheckpoint',
    'AcceptExamples',
    'SucceedJob',
    'FailAttempt',
    'WaitOut',
    'BeginPause',
    'BeginCancel',
    'ExpireLease',
    'ReleaseLease',
    'PauseJob',
    'ResumeJob',
    'CancelJob',
    'ReconcileCall',
    'InvalidateCheckpoint',
  ],
  retry_wait: ['ElapseBackoff', 'ElapseBackoff', 'ElapseBackoff', 'PauseJob', 'CancelJob'],
  pausing: ['FinishPause', 'FinishPause', 'SettleCall', 'FailCall', 'ResumeJob', 'ExpireLease', 'CancelJob'],
  paused: ['ResumeJob', 'ResumeJob', 'ResumeJob', 'ReconcileCall', 'CancelJob'],
  cancelling: ['FinishCancel', 'SettleCall', 'FailCall', 'ExpireLease', 'RecordCheckpoint'],
  cancelled: ['ReconcileCall', 'CancelJob', 'RetryJob'],
  succeeded: ['ReconcileCall', 'CancelJob', 'RetryJob'],
  failed: ['RetryJob', 'RetryJob', 'ReconcileCall'],
}

const whenAllStagesAreComplete = ['SucceedJob', 'SucceedJob', 'FailAttempt', 'SettleCall', 'CancelJob'] as const

const stages = ['intake', 'generate'] as const

const usualFor = (job: Job): readonly CommandType[] =>
  job.state === 'running' && job.stageIndex === stages.length ? whenAllStagesAreComplete : usual[job.state]

/** Reads a command out of a throw: mostly one that fits the job as it stands, now and then any other. */
export const commandOf = (thrown: Throw, job: Job | null, seconds: number): Command => {
  let next = 0
  const upTo = (count: number): number => {
    const number = thrown.numbers[next % thrown.numbers.length] ?? 0
    next += 1
    return (number * 7 + next * 13) % count
  }
  const one = <T>(...choices: readonly T[]): T => choices[upTo(choices.length)] as T
  const seldom = (): boolean => upTo(8) === 0

  const types = job === null ? (['SubmitJob'] as const) : seldom() ? commandTypes : usualFor(job)
  const chosen = types[thrown.kind % types.length] as CommandType
  // Nothing comes behind a cancel, so most histories are left to live.
  const type = chosen === 'CancelJob' && job?.state !== 'cancelled' && !seldom() ? 'LogJob' : chosen
  const at = instant(seconds)
  const lastToken = job?.lastToken ?? 0
  const token = seldom() ? Math.max(1, lastToken - 1) : Math.max(1, lastToken)
  const owned = { at, token, actor: `worker:${token}` }
  const stage = job === null || seldom() ? one(...stages) : (job.spec.stages[job.stageIndex] ?? 'generate')
  const openCalls = Object.keys(job?.open ?? {}).map(Number)
  const heldCalls = Object.keys(job?.holds ?? {}).map(Number)
  const call = seldom() ? one(1, 2, 99, ...heldCalls) : one(...(openCalls.length > 0 ? openCalls : [1]))
  const progress = seldom() ? { done: upTo(9), total: null, unit: 'lines' } : undefined
  const nano = (most: number) => usd(BigInt(upTo(most)) * 1_234_567n)
  const failure = {
    errorCode: 'timeout',
    errorSummary: 'no answer in time',
    errorKind: one('transient', 'transient', 'transient', 'provider', 'policy_block', 'bug'),
    retryable: one(true, false),
  } as const
  const worstCase: Amounts = amounts({ costUsd: nano(120), inputTokens: upTo(150), outputTokens: upTo(300) })
  const more: Partial<Limits> = one<Partial<Limits>>(
    { maximumCalls: (job?.limits.maximumCalls ?? 0) + 5 },
    { maximumCostUsd: null, maximumCalls: null, maximumInputTokens: null, maximumOutputTokens: null },
    { maximumExamples: 3 },
    {},
  )

  switch (type) {
    case 'SubmitJob':
      return command.SubmitJob({
        at,
        spec: spec({
          stages: [...stages],
          limits: one(limits(), limits(), noLimits, limits({ maximumCostUsd: null }), limits({ maximumCalls: 3 })),
          maxAttempts: one(1, 3, 5),
          onUnknown: one('resend', 'pause'),
          inputConfigHash: one(sha('1'), sha('1'), sha('2')),
        }),
      })
    case 'PauseJob':
    case 'CancelJob':
    case 'RetryJob':
      return command[type]({ at })
    case 'ResumeJob':
      return seldom() ? command.ResumeJob({ at }) : command.ResumeJob({ at, limits: more })
    case 'RaiseBudget':
      return command.RaiseBudget({ at, limits: more })
    case 'ReconcileCall':
      return command.ReconcileCall({
        at,
        call: one(...(heldCalls.length > 0 ? heldCalls : [1])),
        ...one(
          { costUsd: nano(90), inputTokens: upTo(100), outputTokens: upTo(200), billed: true },
          { costUsd: usd(0n), inputTokens: 0, outputTokens: 0, billed: false },
        ),
      })
    case 'ClaimJob':
      return command.ClaimJob({ at, owner: one('worker-a', 'worker-b', 'worker-c'), leaseMs: 1_000 + upTo(60_000) })
    case 'ExpireLease': {
      const ownerRevision = Math.max(0, (job?.lease?.ownerRevision ?? 0) - (seldom() ? 1 : 0))
      return command.ExpireLease({ at, token, ownerRevision, reason: one('expired', 'owner_gone') })
    }
    case 'ElapseBackoff':
      return command.ElapseBackoff({ at, retryRevision: seldom() ? 1 : (job?.retry?.revision ?? 1) })
    case 'StartJob':
    case 'FinishCancel':
    case 'FinishPause':
    case 'BeginCancel':
      return command[type](owned)
    case 'RenewLease':
      return command.RenewLease({ ...owned, ...one({}, { waitingFor: { reason: 'rate_limit', until: null } }) })
    case 'ReleaseLease':
      return command.ReleaseLease({ ...owned, reason: one('drain', 'not_runnable'), progress })
    case 'FailAttempt':
      return command.FailAttempt({ ...owned, failure, luck: upTo(100) / 100, progress })
    case 'WaitOut':
      return command.WaitOut({ ...owned, failure, delayMs: upTo(90_000), delayReason: one('backoff', 'retry_after') })
    case 'BeginPause': {
      const reason = one('user', 'budget_exhausted', 'overrun', 'artifact_missing', 'unknown_outcome')
      const exhausted = { limit: 'maximumCalls', needs: worstCase }
      return command.BeginPause({ ...owned, reason, ...(reason === 'budget_exhausted' ? { exhausted } : {}) })
    }
    case 'SucceedJob':
      return command.SucceedJob(owned)
    case 'RecordCheckpoint':
      return command.RecordCheckpoint({ ...owned, stage, key: `line-${upTo(9)}`, progress })
    case 'CompleteStage':
      return command.CompleteStage({ ...owned, stage })
    case 'InvalidateCheckpoint':
      return command.InvalidateCheckpoint({ ...owned, stage: one(...stages) })
    case 'AcceptExamples':
      return command.AcceptExamples({ ...owned, stage, key: `line-${upTo(9)}`, count: upTo(4) })
    case 'LogJob':
      return command.LogJob(owned)
    case 'ReserveCall': {
      const held = heldCalls[0]
      const takesOver = held !== undefined && upTo(3) === 0 ? held : undefined
      const callKey = takesOver === undefined ? `key-${upTo(12)}` : job?.holds[takesOver]?.callKey
      const provider = one('offline', 'openai', 'constructor')
      return command.ReserveCall({ ...owned, stage, provider, worstCase, takesOver, callKey: callKey ?? 'key-1' })
    }
    case 'SettleCall': {
      const worst = (job?.open[call] ?? job?.holds[call])?.worstCase ?? worstCase
      const used = {
        inputTokens: Math.floor((worst.inputTokens * upTo(9)) / 10),
        cachedInputTokens: seldom() ? upTo(200) : 0,
        cacheWriteTokens: 0,
        outputTokens: seldom() ? worst.outputTokens + upTo(90) : Math.floor((worst.outputTokens * upTo(11)) / 10),
      }
      return command.SettleCall({
        ...owned,
        call,
        usage: seldom() ? null : used,
        costUsd: seldom() ? nano(200) : worst.costUsd,
        progress,
      })
    }
    case 'FailCall':
      return command.FailCall({ ...owned, call, billed: one('no', 'unknown') })
    default:
      return type satisfies never
  }
}
