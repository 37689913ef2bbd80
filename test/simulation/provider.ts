import { ProviderError } from '../../domain/errors.ts'
import type { CallRequest, Provider, ProviderAnswer } from '../../domain/ports/provider.ts'
import type { Chance } from './chance.ts'
import type { Host } from './host.ts'
import type { Scheduler } from './scheduler.ts'
import type { Trace } from './trace.ts'
import { type Manner, providerName, type Truth, truthOf } from './truth.ts'

/** A line of the provider's own books. */
export type Send = {
  readonly number: number
  readonly host: string
  readonly callKey: string
  readonly request: CallRequest
  readonly truth: Truth
  /** Zero until it is billed. */
  billedNanoUsd: bigint
  /** True once nothing more will be billed for it. */
  isDecided: boolean
}

export type Temper = ReturnType<typeof temperOf>

export const temperOf = (chance: Chance) => {
  const sometimes = (most: number): number => (chance.hits(0.55) ? chance.between(0, most) : 0)
  return {
    replays: chance.hits(0.5),
    late: sometimes(0.15),
    lateMs: chance.between(3_000, 20_000),
    never: sometimes(0.08),
    rateLimited: sometimes(0.12),
    overloaded: sometimes(0.1),
    cut: sometimes(0.12),
    refused: sometimes(0.08),
    breaks: chance.hits(0.1) ? 0.02 : 0,
    workMs: chance.one([200, 1_500, 5_000]),
    countsTokens: chance.hits(0.5),
    /** How much of a call's time an answer takes at most, once the provider is calm. */
    calmShare: chance.one([0.05, 0.05, 0.5]),
  }
}

export type SimulatedProvider = {
  /** The provider as one process reaches it. */
  at(host: Host): Provider
  readonly replays: boolean
  /** From here on every request is answered. */
  calm(): void
}

export type Watched = {
  /** A request leaves its process. */
  sent(send: Send): void
  /** The provider has put something on the bill. */
  billed(send: Send): void
}

type Ending = { readonly answer: ProviderAnswer } | { readonly error: Error }

const replayedForSeconds = 86_400

export const simulatedProvider = (deps: {
  readonly chance: Chance
  readonly scheduler: Scheduler
  readonly trace: Trace
  readonly manner: Manner
  readonly temper: Temper
  readonly watched: Watched
}): SimulatedProvider => {
  const { chance, scheduler, trace, manner, temper, watched } = deps
  const answered = new Map<string, Truth>()
  const atWork = new Set<string>()
  let sends = 0
  let isCalm = false

  const decide = (send: Send, billed: boolean): void => {
    send.isDecided = true
    if (!billed) return
    if (temper.replays) answered.set(send.callKey, send.truth)
    send.billedNanoUsd = send.truth.billedNanoUsd
    trace.note(`provider bills send ${send.number} ${send.billedNanoUsd}`)
    watched.billed(send)
  }

  const work = (send: Send, deadlineMs: number, reply: (ending: Ending) => void): void => {
    const isLate = !isCalm && chance.hits(temper.late)
    const isCut = !isCalm && chance.hits(temper.cut)
    const workMs = chance.between(1, isCalm ? deadlineMs * temper.calmShare : temper.workMs) + (isLate ? chance.between(0, temper.lateMs) : 0)
    atWork.add(send.callKey)
    scheduler.after(workMs, () => {
      atWork.delete(send.callKey)
      decide(send, true)
      reply(isCut ? { error: failure('connection_cut', 'transient', 'unknown') } : { answer: answerOf(send.truth) })
    })
  }

  const arrive = (send: Send, deadlineMs: number, reply: (ending: Ending) => void): void => {
    const luck = isCalm ? 1 : chance.luck()
    let threshold = 0
    const isUnder = (probability: number): boolean => luck < (threshold += probability)
    const mayBeBilled = send.truth.refusal === null && !answered.has(send.callKey) && !(temper.replays && atWork.has(send.callKey))
    if (isUnder(temper.never)) return decide(send, mayBeBilled && chance.hits(0.5))
    if (isUnder(temper.rateLimited)) {
      decide(send, false)
      return reply({ error: rateLimited(chance) })
    }
    if (isUnder(temper.overloaded)) {
      decide(send, mayBeBilled && chance.hits(0.3))
      return reply({ error: failure('provider_unavailable', 'transient', 'unknown', 503) })
    }
    const before = answered.get(send.callKey)
    if (before !== undefined) {
      decide(send, false)
      return reply({ answer: answerOf(before) })
    }
    if (temper.replays && atWork.has(send.callKey)) {
      decide(send, false)
      return reply({ error: failure('in_progress', 'transient', 'unknown', 409) })
    }
    if (send.truth.refusal !== null) {
      decide(send, false)
      const kind = send.truth.refusal === 'policy_block' ? 'policy_block' : 'invalid_input'
      return reply({ error: failure(send.truth.refusal, kind, 'no', 400) })
    }
    work(send, deadlineMs, reply)
  }

  const at = (host: Host): Provider => ({
    name: providerName,
    replaysForSeconds: temper.replays ? replayedForSeconds : 0,
    framing: { perCall: 4, perMessage: 3 },
    countTokens: (_model, text) => (temper.countsTokens ? Math.floor(text.length / 3) + 1 : null),
    complete: (request, { signal, idempotencyKey, deadlineMs }) =>
      new Promise((resolve, reject) => {
        if (signal.aborted) return reject(failure('timeout', 'transient', 'no'))
        sends += 1
        const send: Send = {
          number: sends,
          host: host.name,
          callKey: idempotencyKey,
          request,
          truth: truthOf(request, manner),
          billedNanoUsd: 0n,
          isDecided: false,
        }
        trace.note(`${host.name} sends ${send.number} ${idempotencyKey.slice(-12)}`)
        // The check that permits a send and the send are one act of the process: it does not freeze in between.
        watched.sent(send)
        host.moment('send')

        const end = (ending: Ending): void => {
          timer.cancel()
          signal.removeEventListener('abort', abort)
          if ('answer' in ending) resolve(ending.answer)
          else reject(ending.error)
        }
        const reply = (ending: Ending): void => {
          scheduler.after(chance.between(0.5, 5), () =>
            host.deliver(() => {
              trace.note(`${host.name} hears of ${send.number}: ${'answer' in ending ? 'answer' : ending.error.message}`)
              end(ending)
            }),
          )
        }
        const abort = (): void => end({ error: failure('timeout', 'transient', 'unknown') })
        const timer = scheduler.after(deadlineMs, () => host.deliver(abort))
        signal.addEventListener('abort', abort)

        if (!isCalm && chance.hits(temper.breaks)) {
          send.isDecided = true
          return end({ error: new TypeError('the adapter broke (simulated)') })
        }
        if (!isCalm && chance.hits(temper.refused)) {
          send.isDecided = true
          return reply({ error: failure('connection_refused', 'transient', 'no') })
        }
        scheduler.after(chance.between(0.5, 5), () => arrive(send, deadlineMs, reply))
      }),
  })

  return {
    at,
    replays: temper.replays,
    calm() {
      isCalm = true
    },
  }
}

const answerOf = (truth: Truth): ProviderAnswer => ({ text: truth.text, finishReason: 'stop', usage: truth.reported })

const failure = (
  code: string,
  kind: ProviderError['kind'],
  billed: 'no' | 'unknown',
  status: number | null = null,
): ProviderError => new ProviderError({ code, message: `${code} (simulated)`, kind, billed, status })

/** The forms of a wait, as an adapter has read them: whole seconds, a date, milliseconds, nonsense, none at all. */
const rateLimited = (chance: Chance): ProviderError =>
  new ProviderError({
    code: 'rate_limited',
    message: 'rate_limited (simulated)',
    kind: 'transient',
    billed: 'no',
    status: 429,
    retryAfter: chance.one([
      null,
      { raw: '0', ms: 0 },
      { raw: '1', ms: 1_000 },
      { raw: '7', ms: 7_000 },
      { raw: 'Thu, 01 Jan 2026 00:00:12 GMT', ms: 12_000 },
      { raw: '250', ms: 250 },
      { raw: 'soon', ms: null },
      { raw: '-5', ms: -5_000 },
    ]),
  })
