import { z } from 'zod'
import { ArtifactRef } from '../../../domain/job/events.ts'
import { Usd } from '../../../domain/money.ts'
import type { StageContext } from '../../defineJob.ts'
import type { BatchInput } from './batchInput.ts'
import { Generated, resultsMediaType } from './generate.ts'

/** What a finished batch leaves. */
export const BatchOutput = z.strictObject({
  /** `results.jsonl`: one line for each line of the input, in its order. */
  results: ArtifactRef,
  lines: z.int().positive(),
  succeeded: z.int().positive(),
  /** Lines that have an error in place of an answer. */
  failed: z.int().nonnegative(),
  /** What the answers cost together. */
  costUsd: Usd,
})
type BatchOutput = z.infer<typeof BatchOutput>

/** Joins the pieces of the results. */
export const exportResults = async (context: StageContext<BatchInput>): Promise<BatchOutput> => {
  const { pieces, succeeded, failed, costUsd } = Generated.parse(await context.result('generate'))
  const content = new Uint8Array(pieces.reduce((sum, { bytes }) => sum + bytes, 0))
  let end = 0
  for (const piece of pieces) {
    content.set(await context.getArtifact(piece), end)
    end += piece.bytes
  }
  const results = await context.putArtifact(content, resultsMediaType)
  context.progress({ done: succeeded + failed, total: succeeded + failed, unit: 'lines' })
  return { results, lines: succeeded + failed, succeeded, failed, costUsd }
}
