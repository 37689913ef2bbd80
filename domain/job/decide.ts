import { reject, unreachable } from '../rejection.ts'
import type { Command } from './commands.ts'
import { type Decision, repeated } from './decision.ts'
import * as money from './decideMoney.ts'
import * as ownership from './decideOwnership.ts'
import * as requests from './decideRequests.ts'
import * as work from './decideWork.ts'
import type { Job } from './job.ts'

/**
 * Judges a command against the job as it is: the events it brings about, none when it is a repeat, or a refusal.
 * A job that does not exist yet is null. Nothing is looked up and nothing is written.
 */
export const decide = (command: Command, job: Job | null): Decision => {
  if (command.type === 'SubmitJob') return requests.submit(command, job)
  if (job === null) return reject('job_not_found', `there is no such job: ${command.type} is not possible`)
  // A command whose events end the stream has just been decided; people's commands are known for good.
  if (command.commandId === job.lastCommandId || job.commandIds.includes(command.commandId)) return repeated

  switch (command.type) {
    // People ask.
    case 'PauseJob':
      return requests.pause(command, job)
    case 'ResumeJob':
      return requests.resume(command, job)
    case 'CancelJob':
      return requests.cancel(command, job)
    case 'RetryJob':
      return requests.retry(command, job)
    case 'RaiseBudget':
      return requests.raiseBudget(command, job)
    case 'ReconcileCall':
      return money.reconcile(command, job)

    // Ownership is taken, kept and ended.
    case 'ClaimJob':
      return ownership.claim(command, job)
    case 'StartJob':
      return ownership.start(command, job)
    case 'RenewLease':
      return ownership.renew(command, job)
    case 'ReleaseLease':
      return ownership.release(command, job)
    case 'ExpireLease':
      return ownership.expire(command, job)
    case 'ElapseBackoff':
      return ownership.elapse(command, job)

    // The owner works.
    case 'RecordCheckpoint':
      return work.recordCheckpoint(command, job)
    case 'CompleteStage':
      return work.completeStage(command, job)
    case 'InvalidateCheckpoint':
      return work.invalidateCheckpoint(command, job)
    case 'AcceptExamples':
      return work.acceptExamples(command, job)
    case 'LogJob':
      return work.log(command, job)

    // The owner spends.
    case 'ReserveCall':
      return money.reserve(command, job)
    case 'SettleCall':
      return money.settle(command, job)
    case 'FailCall':
      return money.fail(command, job)

    // The owner ends its work.
    case 'BeginPause':
      return work.beginPause(command, job)
    case 'FinishPause':
      return work.finishPause(command, job)
    case 'BeginCancel':
      return work.beginCancel(command, job)
    case 'FinishCancel':
      return work.finishCancel(command, job)
    case 'FailAttempt':
      return work.failAttempt(command, job)
    case 'WaitOut':
      return work.waitOut(command, job)
    case 'SucceedJob':
      return work.succeed(command, job)
    default:
      return unreachable(command)
  }
}

