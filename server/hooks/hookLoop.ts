import { StoreUnavailable } from '../../domain/errors.ts'
import type { CompletionHook, HookAnswer } from '../../domain/ports/completionHook.ts'
import type { Presence } from '../../domain/ports/presence.ts'
import type { ViewStore } from '../../domain/ports/viewStore.ts'
import { alarm } from '../projector/alarm.ts'
import { followNews } from '../projector/followNews.ts'
import { waiters } from '../projector/waiters.ts'
import { patiently } from '../worker/patiently.ts'
import { type DueEnding, endingEvents } from './dueEnding.ts'
import { dueEndings } from './dueEndings.ts'
import { hookRetryPolicy, nextDelayMs, secondsText, toldText } from './hookRetry.ts'
import { type Telling, tellOnce } from './tellOnce.ts'

/** Endings that one process tells at one time, a hook: one that hangs keeps none of the others waiting. */
export const tellingMax = 8

/** Between two looks at what others may have left. */
const idleMs = 1_000
/** Before another try after a fault of a store. */
const troubleMs = 1_000

export type HookLoop = {
  /** Resolves once nothing is left to tell, or after `timeoutMs`. */
  settled(timeoutMs: number): Promise<void>
  /** Resolves when the signal has aborted and no try is open. Never rejects. */
  readonly ended: Promise<void>
}

/**
 * Tells a hook of every job that ends or pauses, whoever ended it: at least once, by one process at a time, again after
 * a wait where it was not taken, and `attemptsMax` times at most. All it knows stands in the log and the store of views,
 * so it may be killed anywhere: what it was telling is told again by whoever sees that it is gone.
 *
 * Once `signal` has aborted nothing more is begun, and what is open gets `graceMs` to end.
 */
export const hookLoop = async (
  deps: Telling & { readonly views: ViewStore; readonly presence: Presence | null },
  hook: CompletionHook,
  { signal, graceMs }: { readonly signal: AbortSignal; readonly graceMs: number },
): Promise<HookLoop> => {
  const { events, clock, random, telemetry } = deps
  const open = new Map<string, Promise<void>>()
  const taker = `${hook.kind}-${random.id()}`
  const due = dueEndings({ ...deps, kind: hook.kind, taker, isOpen: (eventId) => open.has(eventId) })
  const news = alarm(clock)
  const readers = waiters(clock)
  const cut = new AbortController()
  let asked = 0
  let answered = 0

  const trouble = (error: unknown): void => {
    if (error instanceof StoreUnavailable) telemetry.trouble(`telling ${hook.title} of ended jobs`, error)
    else telemetry.fault(`telling ${hook.title} of ended jobs`, error)
  }

  /** What stands in the place of an ending after a try; null where there is nothing more to do. */
  const after = (taken: DueEnding, answer: HookAnswer): DueEnding | null => {
    const left = { ...taken, taker: null, since: new Date(clock.now()).toISOString() }
    if (answer.taken) {
      telemetry.info(toldText(hook, taken, answer))
      return null
    }
    if (cut.signal.aborted) return left
    const tries = taken.tries + 1
    const waitMs = nextDelayMs(tries, answer, random.luck())
    const then = waitMs === null ? 'it is not tried again' : `again in ${secondsText(waitMs)}`
    telemetry.notice(`${toldText(hook, taken, answer)}; try ${tries} of ${hookRetryPolicy.attemptsMax}, ${then}`)
    return waitMs === null ? null : { ...left, tries, waitMs }
  }

  const tell = async (taken: DueEnding): Promise<void> => {
    const next = after(taken, await tellOnce(deps, { hook, ending: taken }, cut.signal))
    await patiently({ clock, onTrouble: trouble }, cut.signal, () => due.close(taken, next)).catch(trouble)
    open.delete(taken.eventId)
    news.ring()
  }

  const lookOnce = async (): Promise<boolean> => {
    const question = asked
    const look = await due.look(tellingMax - open.size)
    for (const each of look.taken) open.set(each.eventId, tell(each))
    if (look.isWhole && look.waiting === 0 && open.size === 0) answered = question
    readers.look()
    return look.isWhole
  }

  const run = async (): Promise<void> => {
    const onTrouble = trouble
    const withdraw = await patiently({ clock, onTrouble }, signal, async () => deps.presence?.announce(taker)).catch(trouble)
    let following: Promise<void> | null = null
    while (!signal.aborted) {
      try {
        const rung = news.rung()
        if (!(await lookOnce())) {
          // Stores may answer without ever letting anything else run.
          await clock.sleep(0, signal)
          continue
        }
        const from = { after: due.scannedTo(), types: endingEvents, ring: news.ring, signal }
        following ??= followNews({ events, clock, log: telemetry }, from)
        await news.rest(rung, Math.max(1, Math.ceil(Math.min(idleMs, due.nextWaitMs()))), signal)
      } catch (error) {
        trouble(error)
        due.forget()
        await clock.sleep(troubleMs, signal)
      }
    }
    const ended = new AbortController()
    void clock.sleep(graceMs, ended.signal).then(() => cut.abort())
    await Promise.all(open.values())
    ended.abort()
    await following
    await withdraw?.()
  }

  await due.begin().catch(trouble)
  return {
    settled: async (timeoutMs) => {
      const question = (asked += 1)
      news.ring()
      await readers.wait(() => answered >= question, { timeoutMs, signal })
    },
    ended: run().catch(trouble),
  }
}
