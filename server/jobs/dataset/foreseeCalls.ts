import type { ArtifactRef } from '../../../domain/job/events.ts'
import type { ForeseenCall, JobSettings } from '../../defineJob.ts'
import { type DocumentChunker, documentChunker } from './chunkDocument.ts'
import { chunkRequest } from './chunkRequest.ts'
import { numberedChunks } from './chunkStage.ts'
import type { DatasetInput } from './datasetInput.ts'
import { datasetParameters } from './datasetParameters.ts'
import { parseApart } from './documents/parseApart.ts'
import { expectedOutputTokens } from './expectedOutputTokens.ts'
import { Structure } from './parsedText.ts'
import { planExamples } from './planExamples.ts'
import type { Chunk } from './stageResults.ts'

type Settings = JobSettings & { read(ref: ArtifactRef): Promise<Uint8Array> }

/**
 * The calls that `generate` will make: the documents are read, cut and planned as the stages before it would, and
 * nothing is kept. Raises what these would raise, but for licences and marks of confidentiality.
 */
export async function* foreseeCalls(input: DatasetInput, settings: Settings): AsyncGenerator<ForeseenCall> {
  const { model, target } = settings
  if (model === null) return
  const parameters = datasetParameters(settings.parameters)
  const chunks: Chunk[] = []
  const slices = new Map<string, string>()
  for await (const { chunk, slice } of foreseenChunks(input, settings, await documentChunker(parameters))) {
    chunks.push(chunk)
    slices.set(chunk.id, slice)
  }
  for (const planned of planExamples({ chunks, target, seed: parameters.seed, families: parameters.families })) {
    const slice = slices.get(planned.chunk.id) ?? ''
    const examples = planned.families.length
    const request = { model, ...chunkRequest(planned, slice, parameters) }
    yield { stage: 'generate', request, outputTokens: expectedOutputTokens({ slice, tokens: planned.chunk.tokens }, examples), examples }
  }
}

async function* foreseenChunks(
  { documents }: DatasetInput,
  { read }: Settings,
  chunksOf: DocumentChunker,
): AsyncGenerator<{ readonly chunk: Chunk; readonly slice: string }> {
  const apart = parseApart({ threads: 1, signal: new AbortController().signal })
  try {
    for (const [number, { name, original }] of documents.entries()) {
      const load = (): Promise<Uint8Array> => read(original)
      const { text, structure } = await apart.read({ type: original.mediaType, name, bytes: original.bytes, load })
      const { chunks } = await chunksOf({ name, text, ...Structure.parse(JSON.parse(structure)) })
      for (const chunk of numberedChunks(number, chunks)) yield { chunk, slice: text.slice(chunk.start, chunk.end) }
    }
  } finally {
    await apart.close()
  }
}
