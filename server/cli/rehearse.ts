import type { Submission } from '../engine.ts'
import { type Announcement, announcementOf } from './announcement.ts'
import type { Call } from './call.ts'
import { isThere, withMemory } from './store.ts'

/**
 * Where no store is yet, estimates and submits in one in memory first: a submission that is refused must not leave an
 * empty store. Null where the store is there. Raises what estimating and submitting raise.
 */
export const rehearse = async (call: Call, submission: Submission): Promise<Announcement | null> => {
  if (await isThere(call)) return null
  return withMemory(call, async (engine) => {
    const announcement = await announcementOf(engine, submission, call)
    await engine.submit(announcement.submission)
    return announcement
  })
}
