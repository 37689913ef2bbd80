import type { CallAnswer, StageCall, StageContext } from '../defineJob.ts'
import { type CallFailure, callFailure } from './callFailure.ts'

type Asking<Checkpoint> = Pick<StageContext<unknown, Checkpoint | CallFailure>, 'call' | 'checkpoint' | 'checkpointed' | 'lastAttempt'>

/**
 * Makes calls that a job goes on without if they fail: an answer, or why there is none, each recorded under the call's
 * key. What is not the call's own failure is raised.
 *
 * A failure is recorded, so that a resumed run does not make the call again; but not before a call has succeeded.
 * Until then the job may yet fail as a whole, and whoever retries it by hand has mended something: then every call is
 * to be made again.
 */
export const callAsker = <Checkpoint>(context: Asking<Checkpoint>) => {
  const unrecorded: { readonly key: string; readonly failure: CallFailure }[] = []
  let hasSucceeded = false

  const recordFailures = async (): Promise<void> => {
    if (!hasSucceeded) return
    await Promise.all(unrecorded.splice(0).map(({ key, failure }) => context.checkpoint(key, failure)))
  }

  const send = async (call: StageCall): Promise<CallAnswer | CallFailure> => {
    try {
      return await context.call(call)
    } catch (error) {
      const failure = callFailure(error, context.lastAttempt)
      if (failure === null) throw error
      return failure
    }
  }

  return {
    /** What an earlier run has recorded under this key, or null. */
    async known(key: string): Promise<{ readonly value: Checkpoint | CallFailure } | null> {
      const recorded = await context.checkpointed(key)
      if (recorded !== null) hasSucceeded = true
      return recorded
    },
    async ask(call: StageCall): Promise<CallAnswer | CallFailure> {
      const outcome = await send(call)
      if ('error' in outcome) unrecorded.push({ key: call.key, failure: outcome })
      else hasSucceeded = true
      await recordFailures()
      return outcome
    },
  }
}
