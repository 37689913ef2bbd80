import type { Amounts } from '../../domain/job/events.ts'
import { usd } from '../../domain/money.ts'
import { worstCaseCost, worstCaseTokens } from '../../domain/pricing.ts'
import { type CallAnswer, Interrupted } from '../defineJob.ts'
import { type CallDesk, type KeyedRequest, priceOf } from './callDesk.ts'
import { reserveSend } from './reserveSend.ts'
import { unrecorded } from './endAttempt.ts'
import { lateAnswer, sendOnce, type Tried } from './sendOnce.ts'
import type { WaitReason } from './waits.ts'

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
    const send = await reserveSend(desk, call, fingerprint, worstCase)
    try {
      return await sendOnce(desk, call, fingerprint, send)
    } catch (error) {
      await holdIfOpen(desk, send.call)
      throw error
    }
  } finally {
    leave()
  }
}

/** A send ends settled or failed, whatever went wrong: one left open would be waited for without end. */
const holdIfOpen = async ({ writer, stopping }: CallDesk, call: number): Promise<void> => {
  if (writer.job.open[call] === undefined || writer.lost.aborted || stopping.abandon.aborted) return
  await writer.send({ type: 'FailCall', call, billed: 'unknown', ...unrecorded })
}

const passGates = async (desk: CallDesk, tokens: number): Promise<() => void> => {
  const leaves: (() => void)[] = []
  const leaveAll = (): void => leaves.splice(0).forEach((leave) => leave())
  for (const { gate, whose } of desk.gates) {
    const leave = await gate.enter(tokens, desk.stopping.soft, {
      sleep: (ms) => desk.waits.wait(ms, rateLimited(desk)),
      queue: (turn) => desk.waits.queue(whose, turn),
    })
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
