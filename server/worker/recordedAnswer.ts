import { z } from 'zod'
import { jobStream } from '../../domain/ids.ts'
import type { EventData } from '../../domain/job/events.ts'
import { readEvent } from '../../domain/job/readEvent.ts'
import { type CallAnswer, Interrupted } from '../defineJob.ts'
import { ContentMissing } from './contents.ts'
import type { Desk } from './desk.ts'

/** The content of a settled call's answer. */
export const StoredAnswer = z.strictObject({ text: z.string(), finishReason: z.string().nullable() })

/**
 * The answer of a completed call, from the log; null when it was not completed. One whose stored text is gone pauses
 * the job before the call is made a second time; whoever resumes the job then agrees to it.
 */
export const recordedAnswer = async (desk: Desk, fingerprint: string): Promise<CallAnswer | null> => {
  const revision = desk.index.settledAt(fingerprint)
  if (revision === null) return null
  const { answer, usage, costUsd, call } = await settledEvent(desk, revision)
  try {
    const { text, finishReason } = StoredAnswer.parse(await desk.contents.read(answer))
    return { text, finishReason, usage, costUsd, call, fingerprint, recorded: true }
  } catch (error) {
    if (!(error instanceof ContentMissing)) throw error
    if (desk.index.mayRepeatMissing()) return null
    const detail = `the answer of call ${call} (artifact ${error.ref.sha256}) is ${error.reason}`
    desk.stopping.stop({ kind: 'artifact_missing', detail })
    throw new Interrupted()
  }
}

const settledEvent = async (desk: Desk, revision: number): Promise<EventData<'ProviderCallSettled'>> => {
  const [stored] = await desk.ask(() => desk.events.readStream(jobStream(desk.jobId), { from: revision, limit: 1 }))
  const event = stored === undefined ? undefined : readEvent(stored)
  if (event?.type !== 'ProviderCallSettled') throw new Error(`revision ${revision} of job ${desk.jobId} settles no call`)
  return event.data
}
