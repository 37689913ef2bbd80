import { type JobId, jobStream } from '../../domain/ids.ts'
import type { CompletionHook } from '../../domain/ports/completionHook.ts'
import type { EventStore } from '../../domain/ports/eventStore.ts'
import { endingOf, type EndingRef } from './dueEnding.ts'
import { nextDelayMs, secondsText, toldText } from './hookRetry.ts'
import { type Telling, tellOnce } from './tellOnce.ts'

/** How long a command that has brought its job to an end goes on telling of it. */
export const tellingMsMax = 60_000

/**
 * Tells the hooks of the last end or pause of this job, again where it was not taken, for a minute at most or until the
 * signal aborts. What could not be told is a notice, and no error.
 */
export const tellNow = async (
  deps: Telling,
  { hooks, jobId }: { readonly hooks: readonly CompletionHook[]; readonly jobId: JobId },
  signal: AbortSignal,
): Promise<void> => {
  if (hooks.length === 0) return
  const ending = await lastEnding(deps.events, jobId).catch((error: unknown) => {
    deps.telemetry.fault(`telling the end of job ${jobId}`, error)
    return null
  })
  if (ending === null) return
  const cut = new AbortController()
  const abort = (): void => cut.abort()
  if (signal.aborted) abort()
  signal.addEventListener('abort', abort)
  void deps.clock.sleep(tellingMsMax, cut.signal).then(abort)
  await Promise.all(hooks.map((hook) => tellUntil(deps, { hook, ending }, cut.signal)))
  signal.removeEventListener('abort', abort)
  abort()
}

const tellUntil = async (
  deps: Telling,
  told: { readonly hook: CompletionHook; readonly ending: EndingRef },
  signal: AbortSignal,
): Promise<void> => {
  const { clock, random, telemetry } = deps
  const endsAt = clock.monotonic() + tellingMsMax
  for (let tries = 1; ; tries += 1) {
    const answer = await tellOnce(deps, told, signal)
    const text = toldText(told.hook, told.ending, answer)
    if (answer.taken) return telemetry.info(text)
    const waitMs = nextDelayMs(tries, answer, random.luck())
    if (signal.aborted || waitMs === null || clock.monotonic() + waitMs >= endsAt) {
      return telemetry.notice(`${text}; it is not tried again`)
    }
    telemetry.notice(`${text}; again in ${secondsText(waitMs)}`)
    await clock.sleep(waitMs, signal)
  }
}

const pageSize = 100

const lastEnding = async (events: EventStore, jobId: JobId): Promise<EndingRef | null> => {
  for (let from: { from?: number } = {}; ; ) {
    const page = await events.readStream(jobStream(jobId), { ...from, direction: 'backwards', limit: pageSize })
    const found = page.map(endingOf).find((ending) => ending !== null)
    const last = page.at(-1)
    if (found !== undefined) return found
    if (last === undefined || last.revision === 0) return null
    from = { from: last.revision - 1 }
  }
}
