import type { z } from 'zod'
import type { JobEvent, UnknownEvent } from '../../domain/job/events.ts'
import type { checkpointSchema } from '../client/schemas/reportSchemas.ts'
import type { Engine, Page } from '../engine.ts'

type Checkpoint = z.output<typeof checkpointSchema>

const limitDefault = 100
const pageLength = 1_000
/** Events that one request looks through: a page may have fewer checkpoints than asked for, and a cursor. */
const lookedThroughMax = 10_000

/** A page of what the stages of a job have recorded. Its cursor is the revision of the last event that was looked at. */
export const checkpointsOf = async (
  engine: Engine,
  handle: string,
  { afterRevision, limit = limitDefault }: { readonly afterRevision?: number; readonly limit?: number },
): Promise<Page<Checkpoint>> => {
  const items: Checkpoint[] = []
  let after = afterRevision ?? -1
  for (let looked = 0; looked < lookedThroughMax; ) {
    const page = await engine.events(handle, { afterRevision: after, limit: pageLength })
    for (const event of page.items) {
      const checkpoint = checkpointOf(event)
      if (checkpoint !== null && items.length === limit) return { items, nextCursor: String(after) }
      if (checkpoint !== null) items.push(checkpoint)
      after = event.revision
    }
    if (page.nextCursor === null) return { items, nextCursor: null }
    looked += page.items.length
  }
  return { items, nextCursor: String(after) }
}

const checkpointOf = (event: JobEvent | UnknownEvent): Checkpoint | null => {
  const { recordedAt: at, revision } = event
  switch (event.type) {
    case 'CheckpointRecorded':
      return { kind: 'recorded', stage: event.data.stage, key: event.data.key, value: event.data.value, at, revision }
    case 'StageCompleted':
      return { kind: 'stage_completed', stage: event.data.stage, key: null, value: event.data.result, at, revision }
    case 'CheckpointInvalidated':
      return { kind: 'invalidated', stage: event.data.stage, key: null, value: null, at, revision }
    default:
      return null
  }
}
