import type { JobDocument } from '../../../domain/job/document.ts'
import { isTerminal } from '../../../domain/job/job.ts'
import type { Engine } from '../../engine.ts'
import type { Child } from './children.ts'

export type Watch = {
  readonly engine: Engine
  readonly jobId: string
  /** Who works the job. */
  readonly worker: Child
  readonly signal: AbortSignal
  see(job: JobDocument): void
  enough(job: JobDocument): boolean
}

/**
 * The job as soon as it is far enough, has ended or has paused. Raises the signal's reason when that aborts, and an
 * error when the worker ends by itself before.
 */
export const watched = async ({ engine, jobId, worker, signal, see, enough }: Watch): Promise<JobDocument> => {
  const left = new AbortController()
  void worker.ended.then(() => left.abort())
  for await (const job of engine.follow(jobId, AbortSignal.any([signal, left.signal]))) {
    see(job)
    if (enough(job) || isTerminal(job.state) || job.state === 'paused') return job
  }
  signal.throwIfAborted()
  throw new Error(`worker ${worker.pid} ended by itself: ${await worker.ended}`)
}
