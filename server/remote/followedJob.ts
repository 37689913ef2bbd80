import type { JobDocument } from '../../domain/job/document.ts'
import { isTerminal } from '../../domain/job/job.ts'
import { pause } from '../client/pause.ts'

const everyMs = 1_000

/** See `Engine.follow`. Asks every second. */
export async function* followedJob(
  ask: (signal: AbortSignal) => Promise<JobDocument>,
  signal: AbortSignal,
  sleep: typeof pause = pause,
): AsyncGenerator<JobDocument> {
  for (let shown = -1; !signal.aborted; await sleep(everyMs, signal)) {
    let job: JobDocument
    try {
      job = await ask(signal)
    } catch (error) {
      if (signal.aborted) return
      throw error
    }
    if (job.revision === shown) continue
    shown = job.revision
    yield job
    if (isTerminal(job.state) || job.state === 'paused') return
  }
}
