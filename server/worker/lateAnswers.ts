import { z } from 'zod'
import { RevisionConflict } from '../../domain/errors.ts'
import type { JobId } from '../../domain/ids.ts'
import { Content, Sha256Hex } from '../../domain/job/events.ts'
import type { EventStore } from '../../domain/ports/eventStore.ts'
import type { Sha256 } from '../../domain/ports/hash.ts'
import { Usage } from '../../domain/pricing.ts'
import { chainStart, seal } from '../../domain/seal.ts'

/** An answer that reached a worker after it had lost the job: paid for, and evidence of what became of a held send. */
export const LateAnswer = z.strictObject({
  fingerprint: Sha256Hex,
  callKey: z.string(),
  answer: Content,
  usage: Usage.nullable(),
})
export type LateAnswer = z.infer<typeof LateAnswer>

const evidenceStream = (jobId: JobId): string => `evidence-${jobId}`

/**
 * Late answers stand in a stream beside the job's: whoever lost the job writes nothing to it, and the new owner
 * finds the answer by its fingerprint before it sends the question again.
 */
export const lateAnswers = (deps: { readonly events: EventStore; readonly sha256: Sha256 }) => ({
  async keep(jobId: JobId, late: LateAnswer, by: { at: string; workerId: string }): Promise<void> {
    const stream = evidenceStream(jobId)
    for (;;) {
      const [last] = await deps.events.readStream(stream, { direction: 'backwards', limit: 1 })
      const event = {
        stream,
        revision: (last?.revision ?? -1) + 1,
        type: 'LateAnswer',
        schemaVersion: 1,
        recordedAt: by.at,
        data: JSON.stringify(late),
        meta: JSON.stringify({ actor: `worker:${by.workerId}` }),
      }
      const sealed = seal([event], last?.hash ?? chainStart(stream, deps.sha256), deps.sha256)
      try {
        return await deps.events.append(stream, sealed, last?.revision ?? 'no-stream')
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error
      }
    }
  },

  async find(jobId: JobId, fingerprint: string): Promise<LateAnswer | null> {
    const stored = await deps.events.readStream(evidenceStream(jobId))
    const found = stored.map((event) => LateAnswer.parse(JSON.parse(event.data)))
    return found.find((late) => late.fingerprint === fingerprint) ?? null
  },
})

export type LateAnswers = ReturnType<typeof lateAnswers>
