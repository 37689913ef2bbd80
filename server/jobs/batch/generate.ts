import { z } from 'zod'
import { ArtifactRef } from '../../../domain/job/events.ts'
import { Usd, nanoUsd, usd } from '../../../domain/money.ts'
import type { StageContext } from '../../defineJob.ts'
import { failureOfAll, type CallFailure } from '../callFailure.ts'
import { batchLines, type BatchInput } from './batchInput.ts'
import { lineAsker } from './lineAsker.ts'
import { orderedPieces } from './orderedPieces.ts'
import { resultLine } from './resultLine.ts'

export const resultsMediaType = 'application/jsonl'

export const Generated = z.strictObject({
  /** `results.jsonl`, cut between lines. */
  pieces: z.array(ArtifactRef).min(1).readonly(),
  succeeded: z.int().nonnegative(),
  failed: z.int().nonnegative(),
  /** What the answers cost together. Sends that brought none stand in the job's ledger. */
  costUsd: Usd,
})
type Generated = z.infer<typeof Generated>

/**
 * Asks every line. An answer is durable in its call's own event, so it gets no checkpoint: a resumed run asks again
 * and is answered from the log. The results are put here, piece by piece, because the stage is part of what a call
 * is known by: a later stage could not ask for an answer without paying for it again.
 */
export const generate = async (context: StageContext<BatchInput>): Promise<Generated> => {
  const lines = await batchLines(context)
  const ask = lineAsker(context)
  const pieces = orderedPieces((content) => context.putArtifact(content, resultsMediaType))
  const failures: (CallFailure & { readonly id: string; readonly index: number })[] = []
  let succeeded = 0
  let cost = 0n

  await context.each(lines, async (line, index) => {
    const outcome = await ask(line)
    if ('error' in outcome) {
      failures.push({ ...outcome, id: line.id, index })
    } else {
      succeeded += 1
      cost += nanoUsd(outcome.costUsd)
    }
    context.progress({ done: succeeded + failures.length, total: lines.length, unit: 'lines' })
    await pieces.add(index, resultLine(line, outcome))
  })

  if (succeeded === 0) throw failureOfAll(failures.toSorted((left, right) => left.index - right.index), 'lines')
  return { pieces: await pieces.end(), succeeded, failed: failures.length, costUsd: usd(cost) }
}
