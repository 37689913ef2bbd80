import type { CallAnswer, StageContext } from '../../defineJob.ts'
import { callAsker } from '../callAsker.ts'
import { CallFailure } from '../callFailure.ts'
import type { BatchInput } from './batchInput.ts'
import type { BatchLine } from './batchLine.ts'
import { requester } from './batchRequest.ts'

/** Asks one line: its answer, or why it has none. What is not the line's own failure is raised. */
export const lineAsker = (context: StageContext<BatchInput>) => {
  const requestOf = requester(context)
  const asker = callAsker(context)
  return async (line: BatchLine): Promise<CallAnswer | CallFailure> => {
    const known = await asker.known(line.id)
    return known === null ? asker.ask({ key: line.id, ...requestOf(line) }) : CallFailure.parse(known.value)
  }
}
