import { z } from 'zod'
import { ArtifactRef } from '../../../domain/job/events.ts'
import type { StageContext } from '../../defineJob.ts'
import type { BatchLine } from './batchLine.ts'
import { readBatch } from './readBatch.ts'

/** What a batch works on: its files by their hashes, in order, and how many lines they have together. */
export const BatchInput = z.strictObject({ files: z.array(ArtifactRef).min(1), lines: z.int().positive() })
export type BatchInput = z.infer<typeof BatchInput>

/**
 * The lines of a submitted batch, from the stored files: reading them again is cheaper than a second copy of all
 * prompts in the log.
 */
export const batchLines = async (context: StageContext<BatchInput>): Promise<readonly BatchLine[]> => {
  const files = []
  for (const [index, ref] of context.input.files.entries()) {
    files.push({ name: `input ${index + 1}`, content: await context.getArtifact(ref) })
  }
  return readBatch(files)
}
