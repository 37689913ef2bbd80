import { z } from 'zod'
import { jobStream, type JobId } from '../../domain/ids.ts'
import type { EventData } from '../../domain/job/events.ts'
import { readEvent } from '../../domain/job/readEvent.ts'
import type { EventStore } from '../../domain/ports/eventStore.ts'
import { type CallAnswer, Interrupted } from '../defineJob.ts'
import { ContentMissing, type Contents } from './contents.ts'
import type { JobIndex } from './jobIndex.ts'
import type { Stopping } from './stopping.ts'

/** The content of a settled call's answer. */
export const StoredAnswer = z.strictObject({ text: z.string(), finishReason: z.string().nullable() })

export type RecordedAnswers = {
  /** The answer of a completed call, from the log; null when it was not completed. */
  find(fingerprint: string): Promise<CallAnswer | null>
}

/**
 * Answers that are paid for. One whose stored text is gone pauses the job before the call is made a second time;
 * whoever resumes the job then agrees to it.
 */
export const recordedAnswers = (deps: {
  readonly jobId: JobId
  readonly events: EventStore
  readonly index: JobIndex
  readonly contents: Contents
  readonly stopping: Stopping
  ask<T>(read: () => Promise<T>): Promise<T>
}): RecordedAnswers => ({
  async find(fingerprint) {
    const revision = deps.index.settledAt(fingerprint)
    if (revision === null) return null
    const settled = await settledEvent(deps, revision)
    try {
      const { text, finishReason } = StoredAnswer.parse(await deps.contents.read(settled.answer))
      return {
        text,
        finishReason,
        usage: settled.usage,
        costUsd: settled.costUsd,
        call: settled.call,
        recorded: true,
      }
    } catch (error) {
      if (!(error instanceof ContentMissing)) throw error
      if (deps.index.mayRepeatMissing()) return null
      deps.stopping.stop({
        kind: 'artifact_missing',
        detail: `the answer of call ${settled.call} (artifact ${error.ref.sha256}) is ${error.reason}`,
      })
      throw new Interrupted()
    }
  },
})

const settledEvent = async (
  deps: { readonly jobId: JobId; readonly events: EventStore; ask<T>(read: () => Promise<T>): Promise<T> },
  revision: number,
): Promise<EventData<'ProviderCallSettled'>> => {
  const [stored] = await deps.ask(() => deps.events.readStream(jobStream(deps.jobId), { from: revision, limit: 1 }))
  const event = stored === undefined ? undefined : readEvent(stored)
  if (event?.type !== 'ProviderCallSettled') throw new Error(`revision ${revision} of job ${deps.jobId} settles no call`)
  return event.data
}
