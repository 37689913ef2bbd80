import type { Engine } from '../../engine.ts'
import { type LiveView, skippedTo, withEvents } from './liveView.ts'

const pageSize = 200
const behindMax = 1_000

/**
 * The view with the events up to its document, each read once. Of a long history only its begin, where short stages
 * have mostly ended, and its last events are read.
 */
export const caughtUp = async (engine: Pick<Engine, 'events'>, view: LiveView, nowMs: number): Promise<LiveView> => {
  const { jobId, revision: newest } = view.job
  let next = view
  while (next.revision < newest) {
    if (next.revision >= 0 && newest - next.revision > behindMax) next = skippedTo(next, newest - pageSize)
    const page = { limit: Math.min(pageSize, newest - next.revision) }
    const { items } = await engine.events(jobId, next.revision < 0 ? page : { ...page, afterRevision: next.revision })
    if (items.length === 0) break
    next = withEvents(next, items, nowMs)
  }
  return next
}
