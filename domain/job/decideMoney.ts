import { exceededMessage, firstExceeded, isOverrun, minus } from '../budget.ts'
import { inputTokensOf } from '../pricing.ts'
import { zeroUsd } from '../money.ts'
import { reject } from '../rejection.ts'
import type { CommandOf } from './commands.ts'
import { type Decision, notOwner, repeated, wrongState } from './decision.ts'
import { type Job, type Reservation, stageAtWork } from './job.ts'

/**
 * Permits exactly one send, and sets its worst case aside first. Refused before a limit is crossed, and after
 * people asked the job to stop.
 */
export const reserve = (command: CommandOf<'ReserveCall'>, job: Job): Decision => {
  const refused = notOwner(job, command)
  if (refused !== null) return refused
  if (job.cancellationRequestedAt !== null) return stop('cancel_requested', job)
  if (job.pauseRequestedAt !== null || job.state === 'pausing') return stop('pause_requested', job)
  if (job.state !== 'running') return wrongState(job, command)
  if (command.stage !== stageAtWork(job)) {
    return reject('wrong_stage', `job ${job.jobId} is at stage "${stageAtWork(job)}", not "${command.stage}"`, {
      jobId: job.jobId,
    })
  }
  if (Object.values(job.open).some((each) => each.callKey === command.callKey)) return inFlight(job, command.callKey)
  const over = command.takesOver === undefined ? null : job.holds[command.takesOver]
  if (over === undefined || (over !== null && over.callKey !== command.callKey)) {
    return reject('call_not_held', `job ${job.jobId} holds no call ${command.takesOver} with this key`, {
      jobId: job.jobId,
      call: command.takesOver,
    })
  }
  if (job.overrun) {
    return reject('overrun', `job ${job.jobId} was billed above a call's worst case: look at its ledger, then resume it`, {
      jobId: job.jobId,
    })
  }
  const exceeded = firstExceeded(job.limits, withoutHold(job, over), command.worstCase)
  if (exceeded !== null) {
    return reject('budget_exhausted', `job ${job.jobId}: ${exceededMessage(exceeded)}`, { jobId: job.jobId, ...exceeded })
  }
  const { callKey, fingerprint, stage, key, provider, model, worstCase, takesOver } = command
  return [
    {
      type: 'ProviderCallReserved',
      data: {
        call: job.lastCall + 1,
        callKey,
        fingerprint,
        stage,
        key,
        provider,
        model,
        worstCase,
        takesOver,
      },
    },
  ]
}

/** Books what the call cost: in full, also above its worst case. */
export const settle = (command: CommandOf<'SettleCall'>, job: Job): Decision => {
  const refused = notOwner(job, command)
  if (refused !== null) return refused
  const reservation = job.open[command.call] ?? job.holds[command.call]
  if (reservation === undefined) return repeated
  const { call, usage, answer, durationMs, progress } = command
  const { worstCase } = reservation
  const costUsd = usage === null ? worstCase.costUsd : command.costUsd
  const billed = usage && { costUsd, inputTokens: inputTokensOf(usage), outputTokens: usage.outputTokens }
  return [
    {
      type: 'ProviderCallSettled',
      data: {
        call,
        usage,
        costUsd,
        answer,
        durationMs,
        overrun: billed !== null && isOverrun(job.limits, worstCase, billed) ? (true as const) : undefined,
        usageInvalid: usage === null ? (true as const) : undefined,
        late: job.open[call] === undefined ? (true as const) : undefined,
        progress,
      },
    },
  ]
}

/** A send without an answer: its reservation is given back, or held when it may be billed. */
export const fail = (command: CommandOf<'FailCall'>, job: Job): Decision => {
  const refused = notOwner(job, command)
  if (refused !== null) return refused
  if (job.open[command.call] === undefined) return repeated
  const { type, commandId, actor, at, token, ...data } = command
  return [{ type: 'ProviderCallFailed', data: data }]
}

/** Allowed in every state: what a provider billed is found out when it is found out. */
export const reconcile = (command: CommandOf<'ReconcileCall'>, job: Job): Decision => {
  const { call, costUsd, inputTokens, outputTokens, billed, note } = command
  const hold = job.holds[call]
  if (hold === undefined) {
    return reject('call_not_held', `job ${job.jobId} holds no call ${call}`, {
      jobId: job.jobId,
      call,
      held: Object.keys(job.holds).map(Number),
    })
  }
  if (Object.values(job.open).some((each) => each.callKey === hold.callKey)) return inFlight(job, hold.callKey)
  // What was not billed cost nothing, whatever else was said of it.
  const booked = billed ? { costUsd, inputTokens, outputTokens } : { costUsd: zeroUsd, inputTokens: 0, outputTokens: 0 }
  const overrun = isOverrun(job.limits, hold.worstCase, booked) ? (true as const) : undefined
  return [{ type: 'ProviderCallReconciled', data: { call, billed, ...booked, overrun, note } }]
}

const withoutHold = (job: Job, over: Reservation | null): Job['money'] =>
  over === null ? job.money : { ...job.money, held: minus(job.money.held, over.worstCase) }

const inFlight = (job: Job, callKey: string) =>
  reject('call_in_flight', `job ${job.jobId} has a call with the key ${callKey} in flight: wait for its end`, {
    jobId: job.jobId,
    callKey,
  })

const stop = (code: 'cancel_requested' | 'pause_requested', job: Job) =>
  reject(code, `job ${job.jobId} starts no call: ${code.replace('_', ' ')}`, { jobId: job.jobId, state: job.state })
