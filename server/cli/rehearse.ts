import type { Submission } from '../engine.ts'
import { announced } from './announced.ts'
import type { Call } from './call.ts'
import { storeIsThere, withMemory } from './store.ts'

/**
 * Where no store is yet, announces and submits to one in memory first: a submission that is refused must not leave an
 * empty store. Answers what was announced; null where the store is there. Raises what submitting raises.
 */
export const rehearse = async (call: Call, submission: Submission): Promise<Submission | null> => {
  if (await storeIsThere(call)) return null
  return withMemory(call, async (engine) => {
    const rehearsed = await announced(engine, submission, call)
    await engine.submit(rehearsed)
    return rehearsed
  })
}
