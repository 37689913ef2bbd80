import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { CallAnswer, StageContext } from '../../defineJob.ts'
import { callAsker } from '../callAsker.ts'
import { CallFailure, failureOfAll } from '../callFailure.ts'
import { answeredExamples } from './answeredExamples.ts'
import { chunkRequest } from './chunkRequest.ts'
import type { DatasetInput } from './datasetInput.ts'
import { datasetParameters } from './datasetParameters.ts'
import { textOf } from './documentTexts.ts'
import { ChunkAnswer, type GenerateResult, type PlannedChunk, PlanResult } from './stageResults.ts'

/** The checkpoint of one chunk: its answer, or its call's failure with the kind that the job's own is told by. */
export const GeneratedChunk = z.union([ChunkAnswer.options[0], CallFailure])
export type GeneratedChunk = z.infer<typeof GeneratedChunk>

type Context = StageContext<DatasetInput, GeneratedChunk>

/**
 * Asks for the examples of each planned chunk, once. A chunk whose call fails for good has an error in place of its
 * answer, and the job goes on; it fails if every chunk did.
 */
export const generate = async (context: Context): Promise<GenerateResult> => {
  const { planned } = await context.result('plan', PlanResult)
  const made = new Map<string, GeneratedChunk>()
  const answerOf = chunkAnswerer(context)

  await context.each(planned, async (each) => {
    made.set(each.chunk.id, await answerOf(each))
    context.progress({ done: made.size, total: planned.length, unit: 'chunks' })
  })

  const answers: ChunkAnswer[] = []
  const failures: (CallFailure & { readonly id: string })[] = []
  for (const { chunk } of planned) {
    const outcome = made.get(chunk.id)
    if (outcome === undefined) throw new Error(`chunk ${chunk.id} has no outcome`)
    if ('error' in outcome) failures.push({ ...outcome, id: `chunk ${chunk.id} of ${context.input.documents[chunk.document]?.name ?? ''}` })
    answers.push('error' in outcome ? { error: outcome.error } : outcome)
  }
  if (failures.length === planned.length) throw failureOfAll(failures, 'chunks')
  return { answers, answered: answers.length - failures.length, failed: failures.length }
}

const chunkAnswerer = (context: Context): ((planned: PlannedChunk) => Promise<GeneratedChunk>) => {
  const parameters = datasetParameters(context.parameters)
  const asker = callAsker<GeneratedChunk>(context)
  return async (planned) => {
    const { chunk, families } = planned
    const known = await asker.known(chunk.id)
    if (known !== null) return known.value
    const { text } = await textOf(context, chunk.document)
    const request = chunkRequest(planned, text.slice(chunk.start, chunk.end), parameters)
    const outcome = await asker.ask({ key: chunk.id, ...request, examples: families.length })
    if ('error' in outcome) return outcome
    return kept(context, planned, outcome)
  }
}

const kept = async (context: Context, { chunk, families }: PlannedChunk, answer: CallAnswer): Promise<GeneratedChunk> => {
  const { text, finishReason, fingerprint } = answer
  // More than were asked for are not counted, and not used.
  const hashes = answeredExamples(text)
    .slice(0, families.length)
    .map((example) => createHash('sha256').update(JSON.stringify(example)).digest('hex'))
  if (hashes.length > 0) await context.accept(chunk.id, hashes)
  const generated: GeneratedChunk = { callId: fingerprint, text, finishReason }
  await context.checkpoint(chunk.id, generated)
  return generated
}
