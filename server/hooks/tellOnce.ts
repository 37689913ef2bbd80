import { jobDocument } from '../../domain/job/document.ts'
import type { Clock } from '../../domain/ports/clock.ts'
import { type CompletionHook, endingTypes, type HookAnswer } from '../../domain/ports/completionHook.ts'
import type { Random } from '../../domain/ports/random.ts'
import { jobAt } from '../command/jobAt.ts'
import type { JobLoading } from '../command/loadJob.ts'
import type { Telemetry } from '../telemetry.ts'
import { patiently } from '../worker/patiently.ts'
import type { EndingRef } from './dueEnding.ts'

/** What a hook is told with. */
export type Telling = JobLoading & {
  readonly clock: Clock
  readonly random: Random
  readonly telemetry: Telemetry
}

/** One try: finds the job as it ended, and tells it. Never rejects. */
export const tellOnce = async (
  deps: Telling,
  { hook, ending }: { readonly hook: CompletionHook; readonly ending: EndingRef },
  signal: AbortSignal,
): Promise<HookAnswer> => {
  const onTrouble = (error: Parameters<Telemetry['trouble']>[1]): void => deps.telemetry.trouble('reading an ended job', error)
  try {
    const job = await patiently({ clock: deps.clock, onTrouble }, signal, () => jobAt(deps, ending.jobId, ending.revision))
    const { eventId, event, endedAt } = ending
    return await hook.tell({ eventId, type: endingTypes[event], at: endedAt, job: jobDocument(job) }, signal)
  } catch (error) {
    return { taken: false, said: error instanceof Error ? error.message : String(error), askedMs: null }
  }
}
