import type { CallAnswer } from '../../defineJob.ts'
import type { CallFailure } from '../callFailure.ts'
import type { BatchLine } from './batchLine.ts'

/**
 * One line of `results.jsonl`. Holds nothing that tells an undisturbed run from a resumed one: no instants, no call
 * numbers, nothing about what was answered from the log.
 */
export const resultLine = (line: BatchLine, outcome: CallAnswer | CallFailure): Uint8Array => {
  const metadata = line.metadata === undefined ? {} : { metadata: line.metadata }
  const result = 'error' in outcome ? { error: outcome.error } : answered(outcome)
  return Buffer.from(`${JSON.stringify({ id: line.id, ...result, ...metadata })}\n`, 'utf8')
}

const answered = ({ text, usage, costUsd }: CallAnswer) => ({
  text,
  usage,
  costUsd,
  ...(usage !== null && usage.cachedInputTokens > 0 ? { cached: true } : {}),
})
