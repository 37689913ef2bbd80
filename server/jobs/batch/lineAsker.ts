import type { CallAnswer, StageContext } from '../../defineJob.ts'
import type { BatchInput } from './batchInput.ts'
import type { BatchLine } from './batchLine.ts'
import { requester } from './batchRequest.ts'
import { LineFailure, lineFailure } from './lineFailure.ts'

/**
 * Asks one line: its answer, or why it has none. What is not the line's own failure is raised.
 *
 * A failure is recorded, so that a resumed run does not send the line again; but not before a line has succeeded.
 * Until then the job may yet fail as a whole, and whoever retries it by hand has mended something: then every line
 * is to be asked again.
 */
export const lineAsker = (context: StageContext<BatchInput>) => {
  const requestOf = requester(context)
  const unrecorded: { readonly id: string; readonly failure: LineFailure }[] = []
  let hasSucceeded = false

  const recordFailures = async (): Promise<void> => {
    if (!hasSucceeded) return
    await Promise.all(unrecorded.splice(0).map(({ id, failure }) => context.checkpoint(id, failure)))
  }

  const send = async (line: BatchLine): Promise<CallAnswer | LineFailure> => {
    try {
      return await context.call({ key: line.id, ...requestOf(line) })
    } catch (error) {
      const failure = lineFailure(error, context.lastAttempt)
      if (failure === null) throw error
      return failure
    }
  }

  return async (line: BatchLine): Promise<CallAnswer | LineFailure> => {
    const recorded = await context.checkpointed(line.id)
    if (recorded !== null) return LineFailure.parse(recorded.value)
    const outcome = await send(line)
    if ('error' in outcome) unrecorded.push({ id: line.id, failure: outcome })
    else hasSucceeded = true
    await recordFailures()
    return outcome
  }
}
