import { LeaseLostError, PolicyBlockError, ProviderError } from '../../domain/errors.ts'
import { usd } from '../../domain/money.ts'
import type { ProviderAnswer } from '../../domain/ports/provider.ts'
import { costOf, Usage } from '../../domain/pricing.ts'
import { chooseDelay } from '../../domain/retry.ts'
import { preview, wellFormed } from '../../domain/strictJson.ts'
import { type CallAnswer, Interrupted } from '../defineJob.ts'
import { askProvider } from './askProvider.ts'
import { type CallDesk, type KeyedRequest, priceOf } from './callDesk.ts'
import { ContentMissing } from './contents.ts'
import { codeOf } from './endAttempt.ts'
import { notSentCode, stillAtWork } from './jobIndex.ts'
import { StoredAnswer } from './recordedAnswer.ts'
import type { Send } from './reserveSend.ts'
import type { WaitReason } from './waits.ts'

/** What one send came to: an answer, or a wait before the next one. */
export type Tried = { readonly answer: CallAnswer } | { readonly delayMs: number; readonly reason: WaitReason }

/**
 * Sends what was reserved, exactly once, and records what came of it. Raises `ProviderError` or `PolicyBlockError`
 * when no further try is left.
 */
export const sendOnce = async (desk: CallDesk, call: KeyedRequest, fingerprint: string, send: Send): Promise<Tried> => {
  const { writer, clock } = desk
  const leaseMs = writer.job.lease?.leaseMs ?? 0
  // A job that is to stop pays for nothing more; one whose lease is old may be somebody else's by now.
  const isStale = clock.monotonic() - writer.freshAt > (leaseMs * 2) / 3
  if (isStale || desk.stopping.soft.aborted) {
    const why = isStale ? tooOld : tooLate
    await writer.record({ type: 'FailCall', call: send.call, billed: billedFor(send, 'no'), ...why })
    return { delayMs: 0, reason: { failure: { ...why, retryable: true }, delayReason: 'backoff', luck: 0 } }
  }
  const startedAt = clock.monotonic()
  let answer: ProviderAnswer
  try {
    answer = understood(await askProvider(desk, call.request, send.callKey))
  } catch (error) {
    return afterFailure(desk, fingerprint, send, asProviderError(error))
  }
  const durationMs = Math.round(clock.monotonic() - startedAt)
  return { answer: await settle(desk, call, fingerprint, send, answer, durationMs) }
}

/**
 * Half a surrogate pair cannot be sent to anybody again, and impossible numbers cannot be charged by. Raises for what
 * could not be read from the log again.
 */
const understood = (answer: ProviderAnswer): ProviderAnswer => ({
  ...StoredAnswer.parse({ text: wellFormed(answer.text), finishReason: answer.finishReason }),
  usage: Usage.safeParse(answer.usage).data ?? null,
})

/** That a re-send was refused says nothing of the send whose hold it took over: that one may still be billed. */
const billedFor = (send: Send, billed: 'no' | 'unknown'): 'no' | 'unknown' => (send.tookOver ? 'unknown' : billed)

const notSent = { errorCode: notSentCode, errorKind: 'transient' } as const
const tooOld = { ...notSent, errorSummary: 'the lease was too old to send under it' }
const tooLate = { ...notSent, errorSummary: 'the job was to stop before it was sent' }

const settle = async (
  desk: CallDesk,
  call: KeyedRequest,
  fingerprint: string,
  send: Send,
  answer: ProviderAnswer,
  durationMs: number,
): Promise<CallAnswer> => {
  const price = priceOf(desk, call.request.model)
  const costUsd = usd(answer.usage === null || price === null ? 0n : costOf(answer.usage, price))
  const kept = await desk.contents.keep({ text: answer.text, finishReason: answer.finishReason })
  try {
    const events = await desk.writer.record({
      type: 'SettleCall',
      call: send.call,
      usage: answer.usage,
      costUsd,
      answer: kept,
      durationMs,
      progress: desk.said.progress,
    })
    const settled = events.find((event) => event.type === 'ProviderCallSettled')
    return {
      text: answer.text,
      finishReason: answer.finishReason,
      usage: answer.usage,
      costUsd: settled?.data.costUsd ?? costUsd,
      call: send.call,
      fingerprint,
      recorded: false,
    }
  } catch (error) {
    if (!(error instanceof LeaseLostError)) throw error
    const at = new Date(desk.clock.now()).toISOString()
    const { callKey } = send
    await desk.ask(() =>
      desk.late.keep(desk.jobId, { fingerprint, callKey, answer: kept, usage: answer.usage }, { at, workerId: desk.workerId }),
    )
    throw new Interrupted()
  }
}

/** What a former owner was answered after it had lost the job: the held send is settled by it, and nothing is sent. */
export const lateAnswer = async (desk: CallDesk, call: KeyedRequest, fingerprint: string): Promise<CallAnswer | null> => {
  const { pending } = desk.index.sends(fingerprint)
  const held = pending.filter((each) => desk.writer.job.holds[each] !== undefined)
  if (held.length === 0) return null
  const late = await desk.ask(() => desk.late.find(desk.jobId, fingerprint))
  const number = held.find((each) => desk.writer.job.holds[each]?.callKey === late?.callKey)
  if (late === null || number === undefined) return null
  let stored: unknown
  try {
    stored = await desk.contents.read(late.answer)
  } catch (error) {
    // Evidence that is gone is none: the send stays held, as it would have been without.
    if (error instanceof ContentMissing) return null
    throw error
  }
  const { text, finishReason } = StoredAnswer.parse(stored)
  return settle(desk, call, fingerprint, { call: number, callKey: late.callKey, tookOver: false }, { text, finishReason, usage: late.usage }, 0)
}

/** A provider that says when to come back uses up none of a call's tries, but not without end. */
const askedWaitsMax = 50

/** Records the failure with the wait chosen before the next send, or raises it when there is to be none. */
const afterFailure = async (
  desk: CallDesk,
  fingerprint: string,
  send: Send,
  error: ProviderError,
): Promise<Tried> => {
  const { failures, askedWaits } = desk.index.sends(fingerprint)
  const askedMs = error.retryAfter?.ms ?? null
  // Its key has been taken over and its first send is still at work: that is no failure, it is to be waited for.
  const isAskedWait = askedMs !== null || (send.tookOver && error.status === stillAtWork)
  const isLeft = isAskedWait ? askedWaits < askedWaitsMax : failures + 1 < desk.spec.callAttempts
  const retried = mayPass(error) && isLeft
  const luck = desk.random.luck()
  const chosen = chooseDelay({ attempt: (isAskedWait ? askedWaits : failures) + 1, askedMs, luck })
  const retryAfter = error.retryAfter === null ? undefined : { raw: preview(error.retryAfter.raw, 100), ms: error.retryAfter.ms }
  await desk.writer.record({
    type: 'FailCall',
    call: send.call,
    errorCode: codeOf(error),
    errorSummary: preview(error.message, 500),
    errorKind: error.kind,
    billed: billedFor(send, error.billed),
    status: Number.isSafeInteger(error.status) ? (error.status ?? undefined) : undefined,
    retryAfter,
    ...(retried ? { delayMs: chosen.delayMs, delayReason: chosen.reason, luck } : {}),
  })
  if (desk.stopping.reason !== null) throw new Interrupted()
  if (!retried) throw error.kind === 'policy_block' ? new PolicyBlockError(error.code, error.message) : error
  return {
    delayMs: chosen.delayMs,
    reason: {
      failure: {
        errorCode: codeOf(error),
        errorSummary: preview(error.message, 500),
        errorKind: error.kind,
        retryable: true,
      },
      delayReason: chosen.reason,
      luck,
      retryAfter,
    },
  }
}

const mayPass = (error: ProviderError): boolean =>
  error.kind === 'transient' || (error.kind === 'provider' && error.retryable)

/** A provider raises `ProviderError`; anything else is a fault of its adapter, after which nobody knows what was billed. */
const asProviderError = (error: unknown): ProviderError =>
  error instanceof ProviderError
    ? error
    : new ProviderError({
        code: 'provider_fault',
        message: error instanceof Error ? error.message : String(error),
        kind: 'bug',
        billed: 'unknown',
      })
