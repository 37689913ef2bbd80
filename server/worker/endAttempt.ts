import { EngineError, InvalidInputError, PolicyBlockError, ProviderError } from '../../domain/errors.ts'
import type { Failure } from '../../domain/job/commands.ts'
import { isRejection } from '../../domain/rejection.ts'
import { preview } from '../../domain/strictJson.ts'
import { firstWish, isMeant } from './announceStop.ts'
import type { Desk } from './desk.ts'
import type { Wish } from './jobWriter.ts'

type Ending = Pick<Desk, 'writer' | 'stopping' | 'random' | 'said'>

/** An attempt that reached its end without a reason to stop: all stages are done, or this error was raised. */
export type Worked = 'done' | { readonly error: unknown }

/**
 * Gives the job out of our hands, by the way its state asks for. What people asked for between two looks is carried
 * out by the decision itself; a refusal means that the state has moved, so it is looked at again.
 */
export const endAttempt = async (ending: Ending, worked: Worked): Promise<void> => {
  const { writer } = ending
  for (let refusals = 0; refusals < 5; ) {
    if (writer.lost.aborted || writer.job.lease?.token !== writer.token) return
    const wish = lastWish(ending, worked)
    const outcome = await writer.send(wish, isMeant(wish))
    if (!isRejection(outcome)) continue
    if (outcome.rejected === 'calls_open') await holdOpenCalls(writer)
    refusals += 1
    if (refusals === 5) throw new Error(`the attempt cannot end (${outcome.rejected}): ${outcome.message}`)
  }
}

/** No call is under way any more: what became of these was not recorded, because a store was away for too long. */
const holdOpenCalls = async (writer: Ending['writer']): Promise<void> => {
  const calls = Object.keys(writer.job.open).map(Number)
  await Promise.all(calls.map((call) => writer.send({ type: 'FailCall', call, billed: 'unknown', ...unrecorded })))
}

export const unrecorded = {
  errorCode: 'unrecorded',
  errorSummary: 'what became of the call could not be recorded',
  errorKind: 'transient',
} as const

const lastWish = ({ writer, stopping, random, said }: Ending, worked: Worked): Wish => {
  const { progress } = said
  const { state, pauseRequestedAt } = writer.job
  const { reason } = stopping
  if (state === 'cancelling') return { type: 'FinishCancel', progress }
  if (reason?.kind === 'drain') return { type: 'ReleaseLease', reason: 'drain', progress }
  if (state === 'pausing') return { type: 'FinishPause', progress }
  // Taken back behind our back: the stage has been stopped, so whoever claims the job next goes on with it.
  if (reason?.kind === 'pause' && pauseRequestedAt === null) return { type: 'ReleaseLease', reason: 'drain', progress }
  if (reason?.kind === 'wait') return { ...reason.wish, progress }
  return (reason === null ? null : firstWish(reason)) ?? failAttempt(worked, random.luck(), progress)
}

const failAttempt = (worked: Worked, luck: number, progress: Ending['said']['progress']): Wish => {
  if (worked === 'done') throw new Error('a job whose stages are all done succeeds')
  const { error } = worked
  const asked = error instanceof ProviderError ? error.retryAfter : null
  return {
    type: 'FailAttempt',
    failure: failureOf(error),
    luck,
    retryAfter: asked === null ? undefined : { raw: preview(asked.raw, 100), ms: asked.ms },
    progress,
  }
}

const summaryLengthMax = 500

/** Codes come from adapters and jobs too: one that no event may hold must not keep the failure out of the log. */
export const codeOf = (error: EngineError): string => (error.code === '' ? 'unnamed' : preview(error.code, 200))

/** By kind, never by the name of a class: what is not one of the engine's own errors is a bug of the job. */
const failureOf = (error: unknown): Failure => {
  const errorSummary = preview(error instanceof Error ? error.message : String(error), summaryLengthMax)
  const errorCode = error instanceof EngineError ? codeOf(error) : 'bug'
  if (error instanceof ProviderError) return { errorCode, errorSummary, errorKind: error.kind, retryable: error.retryable }
  if (error instanceof PolicyBlockError) return { errorCode, errorSummary, errorKind: 'policy_block', retryable: false }
  if (error instanceof InvalidInputError) return { errorCode, errorSummary, errorKind: 'invalid_input', retryable: false }
  return { errorCode, errorSummary, errorKind: 'bug', retryable: false }
}
