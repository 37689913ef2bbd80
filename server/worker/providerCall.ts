import { canonical } from '../../domain/canonical.ts'
import { LeaseLostError, PolicyBlockError, ProviderError } from '../../domain/errors.ts'
import type { Amounts } from '../../domain/job/events.ts'
import { usd } from '../../domain/money.ts'
import type { CallRequest, Provider, ProviderAnswer } from '../../domain/ports/provider.ts'
import { costOf, type ModelPrice, worstCaseCost, worstCaseTokens } from '../../domain/pricing.ts'
import { isRejection, type Rejection } from '../../domain/rejection.ts'
import { chooseDelay } from '../../domain/retry.ts'
import { preview } from '../../domain/strictJson.ts'
import { type CallAnswer, Interrupted } from '../defineJob.ts'
import type { Desk } from './desk.ts'
import { StoredAnswer } from './recordedAnswer.ts'
import type { Waits } from './waits.ts'

/** A desk that has a provider to ask. */
export type CallDesk = Desk & { readonly provider: Provider }

export type KeyedRequest = {
  readonly stage: string
  readonly key: string
  readonly request: CallRequest
  readonly examples: number
}

/** What a call is known by: the same question of the same stage under the same key. */
export const fingerprintOf = (desk: Pick<CallDesk, 'spec' | 'sha256'>, call: KeyedRequest): string =>
  desk.sha256(
    canonical({ provider: desk.spec.provider, stage: call.stage, key: call.key, request: JSON.parse(JSON.stringify(call.request)) }),
  )

/**
 * Gets an answer: reserve, send, settle; again after a failure that may pass, each time with a reservation of its
 * own. Raises `ProviderError` or `PolicyBlockError` when this attempt's tries are used up, and `Interrupted` when
 * the job is to stop.
 */
export const providerCall = async (desk: CallDesk, call: KeyedRequest, fingerprint: string): Promise<CallAnswer> => {
  desk.waits.begin()
  try {
    for (;;) {
      const tried = await tryOnce(desk, call, fingerprint)
      if ('answer' in tried) return tried.answer
      await desk.waits.wait(tried.delayMs, tried.reason)
    }
  } finally {
    desk.waits.end()
  }
}

type Tried = { readonly answer: CallAnswer } | { readonly delayMs: number; readonly reason: WaitReason }
type WaitReason = Parameters<Waits['wait']>[1]

const tryOnce = async (desk: CallDesk, call: KeyedRequest, fingerprint: string): Promise<Tried> => {
  const tokens = worstCaseTokens(call.request, desk.provider)
  const late = await lateAnswer(desk, call, fingerprint)
  if (late !== null) return { answer: late }
  const leave = await passGates(desk, tokens.inputTokens + tokens.outputTokens)
  try {
    const price = priceOf(desk, call.request.model)
    const worstCase: Amounts = {
      ...tokens,
      costUsd: usd(price === null ? 0n : worstCaseCost(tokens, price)),
      calls: 1,
      examples: call.examples,
    }
    const send = await reserve(desk, call, fingerprint, worstCase)
    return await sendOnce(desk, call, fingerprint, send)
  } finally {
    leave()
  }
}

const goOn = (desk: CallDesk): void => {
  if (desk.stopping.reason !== null) throw new Interrupted()
}

const passGates = async (desk: CallDesk, tokens: number): Promise<() => void> => {
  const leaves: (() => void)[] = []
  const leaveAll = (): void => leaves.splice(0).forEach((leave) => leave())
  for (const gate of desk.gates) {
    goOn(desk)
    const waitMs = gate.waitMs(tokens)
    if (waitMs > 0) await desk.waits.wait(waitMs, rateLimited(desk))
    goOn(desk)
    const leave = await gate.enter(tokens, desk.stopping.soft)
    if (leave === null) {
      leaveAll()
      throw new Interrupted()
    }
    leaves.push(leave)
  }
  return leaveAll
}

const rateLimited = (desk: CallDesk): WaitReason => ({
  failure: {
    errorCode: 'rate_limit',
    errorSummary: `the limits of provider ${desk.provider.name} leave no room yet`,
    errorKind: 'transient',
    retryable: true,
  },
  delayReason: 'backoff',
  luck: 0,
})

type Send = { readonly call: number; readonly callKey: string }

/** Waits for the job's other calls while the limits leave no room; when none is left, the job pauses. */
const reserve = async (
  desk: CallDesk,
  call: KeyedRequest,
  fingerprint: string,
  worstCase: Amounts,
): Promise<Send> => {
  for (;;) {
    goOn(desk)
    const { callKey, takesOver } = nextKey(desk, fingerprint)
    const outcome = await desk.writer.send({
      type: 'ReserveCall',
      callKey,
      fingerprint,
      stage: call.stage,
      key: call.key,
      provider: desk.provider.name,
      model: call.request.model,
      worstCase,
      takesOver,
    })
    if (!isRejection(outcome)) {
      const reserved = outcome.events.find((event) => event.type === 'ProviderCallReserved')
      if (reserved === undefined) throw new Error('a new reservation is never a repeat')
      return { call: reserved.data.call, callKey }
    }
    if (outcome.rejected === 'budget_exhausted' && Object.keys(desk.writer.job.open).length > 0) {
      await desk.calls.nextEnd()
      continue
    }
    stopFor(desk, outcome, worstCase)
    throw new Interrupted()
  }
}

const stopFor = (desk: CallDesk, rejection: Rejection, worstCase: Amounts): void => {
  switch (rejection.rejected) {
    case 'budget_exhausted':
      return desk.stopping.stop({
        kind: 'budget_exhausted',
        exhausted: { limit: String(rejection.details['limit']), needs: worstCase },
      })
    case 'overrun':
      return desk.stopping.stop({ kind: 'overrun', detail: rejection.message })
    case 'cancel_requested':
      return desk.stopping.stop({ kind: 'cancel' })
    case 'pause_requested':
      return desk.stopping.stop({ kind: 'pause' })
    default:
      throw new Error(`a reservation was refused (${rejection.rejected}): ${rejection.message}`)
  }
}

/**
 * The key of the next send. A held send whose key the provider still replays is sent again under it; where the
 * provider does not, and the job is to pause on unknown outcomes, nothing is sent.
 */
const nextKey = (desk: CallDesk, fingerprint: string): { callKey: string; takesOver: number | undefined } => {
  const { n, pending } = desk.index.sends(fingerprint)
  const callKey = `${desk.jobId}:${fingerprint}:${n}`
  const held = pending.filter((call) => desk.writer.job.holds[call] !== undefined)
  const last = held.at(-1)
  if (last === undefined) return { callKey, takesOver: undefined }
  const reservation = desk.writer.job.holds[last]
  const sentAgoMs = desk.clock.now() - Date.parse(reservation?.reservedAt ?? '')
  if (reservation?.callKey === callKey && sentAgoMs < desk.provider.replaysForSeconds * 1_000) {
    return { callKey, takesOver: last }
  }
  if (desk.spec.onUnknown === 'pause') {
    desk.stopping.stop({ kind: 'unknown_outcome', detail: `nobody knows whether call ${last} was billed` })
    throw new Interrupted()
  }
  return { callKey, takesOver: undefined }
}

const sendOnce = async (desk: CallDesk, call: KeyedRequest, fingerprint: string, send: Send): Promise<Tried> => {
  const { writer, clock } = desk
  const leaseMs = writer.job.lease?.leaseMs ?? 0
  if (desk.stopping.hard.aborted || clock.monotonic() - writer.freshAt > (leaseMs * 2) / 3) {
    // Somebody may have taken the job over meanwhile: the reservation is given back unused.
    await writer.record({ type: 'FailCall', call: send.call, billed: 'no', ...notSent })
    return { delayMs: 0, reason: { failure: { ...notSent, retryable: true }, delayReason: 'backoff', luck: 0 } }
  }
  const startedAt = clock.monotonic()
  let answer: ProviderAnswer
  try {
    answer = await desk.provider.complete(call.request, {
      signal: desk.stopping.hard,
      idempotencyKey: send.callKey,
      deadlineMs: desk.callTimeoutMs(),
    })
  } catch (error) {
    return afterFailure(desk, fingerprint, send, asProviderError(error))
  }
  const durationMs = Math.round(clock.monotonic() - startedAt)
  return { answer: await settle(desk, call, fingerprint, send, answer, durationMs) }
}

const notSent = {
  errorCode: 'not_sent',
  errorSummary: 'the lease was too old to send under it',
  errorKind: 'transient',
} as const

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
const lateAnswer = async (desk: CallDesk, call: KeyedRequest, fingerprint: string): Promise<CallAnswer | null> => {
  const { pending } = desk.index.sends(fingerprint)
  const held = pending.filter((each) => desk.writer.job.holds[each] !== undefined)
  if (held.length === 0) return null
  const late = await desk.ask(() => desk.late.find(desk.jobId, fingerprint))
  const number = held.find((each) => desk.writer.job.holds[each]?.callKey === late?.callKey)
  if (late === null || number === undefined) return null
  const { text, finishReason } = StoredAnswer.parse(await desk.contents.read(late.answer))
  return settle(desk, call, fingerprint, { call: number, callKey: late.callKey }, { text, finishReason, usage: late.usage }, 0)
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
  const isLeft = askedMs === null ? failures + 1 < desk.spec.callAttempts : askedWaits < askedWaitsMax
  const retried = mayPass(error) && isLeft
  const luck = desk.random.luck()
  const chosen = chooseDelay({ attempt: failures + 1, askedMs, luck })
  const retryAfter = error.retryAfter === null ? undefined : { raw: preview(error.retryAfter.raw, 100), ms: error.retryAfter.ms }
  await desk.writer.record({
    type: 'FailCall',
    call: send.call,
    errorCode: error.code,
    errorSummary: preview(error.message, 500),
    errorKind: error.kind,
    billed: error.billed,
    status: error.status ?? undefined,
    retryAfter,
    ...(retried ? { delayMs: chosen.delayMs, delayReason: chosen.reason, luck } : {}),
  })
  goOn(desk)
  if (!retried) throw error.kind === 'policy_block' ? new PolicyBlockError(error.code, error.message) : error
  return {
    delayMs: chosen.delayMs,
    reason: {
      failure: {
        errorCode: error.code,
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

/** Null for a model that was allowed to go unpriced. */
export const priceOf = (desk: Pick<CallDesk, 'spec' | 'prices'>, model: string): ModelPrice | null => {
  const prices = desk.prices
  const price = prices !== null && Object.hasOwn(prices.models, model) ? prices.models[model] : undefined
  if (price !== undefined) return price
  if (desk.spec.allowUnpriced.includes(model)) return null
  throw new ProviderError({
    code: 'unpriced_model',
    message: `model ${model} has no price in the job's profile, and was not allowed without one`,
    kind: 'invalid_input',
    billed: 'no',
  })
}
