import { StoreUnavailable } from '../../domain/errors.ts'
import type { JobDocument } from '../../domain/job/document.ts'
import { isTerminal } from '../../domain/job/job.ts'
import type { pause } from '../client/pause.ts'
import type { LiveFrame } from '../engine.ts'

/** How often a job is asked for at most, however fast it changes. */
const everyMs = 200

type Following = {
  /** The job as it stands. */
  ask(): Promise<JobDocument>
  /** What happens to the job from now on, over any loss of the connection. */
  frames(): AsyncIterable<LiveFrame>
  readonly sleep: typeof pause
}

/** See `Engine.follow`. Once the job has been shown, a server that is away is waited for. */
export async function* followedJob({ ask, frames, sleep }: Following, signal: AbortSignal): AsyncGenerator<JobDocument> {
  if (signal.aborted) return
  let job = await ask()
  yield job
  if (isAtRest(job)) return
  // What has happened before the frames begin is learned at their first mark.
  let isBehind = true
  for await (const frame of frames()) {
    const isNews = frame.kind === 'event' ? frame.event.revision > job.revision : isBehind
    if (!isNews) continue
    const asked = await ask().catch(unlessAway)
    isBehind = asked === null
    if (asked !== null && asked.revision > job.revision) {
      job = asked
      yield job
      if (isAtRest(job)) return
    }
    await sleep(everyMs, signal)
  }
}

const isAtRest = ({ state }: JobDocument): boolean => isTerminal(state) || state === 'paused'

const unlessAway = (error: unknown): null => {
  if (error instanceof StoreUnavailable) return null
  throw error
}
