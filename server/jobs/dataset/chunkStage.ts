import { z } from 'zod'
import { InvalidInputError, PolicyBlockError } from '../../../domain/errors.ts'
import { ArtifactRef } from '../../../domain/job/events.ts'
import type { StageContext } from '../../defineJob.ts'
import { type ChunkedDocument, type DocumentChunker, documentChunker } from './chunkDocument.ts'
import type { DatasetInput } from './datasetInput.ts'
import { datasetParameters } from './datasetParameters.ts'
import { readText } from './documentTexts.ts'
import { Chunk, type ChunkResult, type ParsedDocument, ParseResult, Quarantined } from './stageResults.ts'

/** The checkpoint of one document. */
export const DocumentChunks = z.strictObject({
  chunks: z.array(Chunk),
  quarantined: z.array(Quarantined),
  /** The text with its personal data masked, where it has any. */
  masked: ArtifactRef.nullable(),
  /** Why there is no chunk; null where there is one. */
  unusable: z.string().nullable(),
})
export type DocumentChunks = z.infer<typeof DocumentChunks>

type Context = StageContext<DatasetInput, DocumentChunks>

/**
 * Cuts each document into chunks, and masks the personal data in it for all that comes after. Raises
 * `PolicyBlockError` for the first document, in order, with personal data that `privacy` blocks, and
 * `InvalidInputError` where nothing can be asked about any document.
 */
export const chunk = async (context: Context): Promise<ChunkResult> => {
  const { documents } = await context.result('parse', ParseResult)
  const chunksOf = await documentChunker(datasetParameters(context.parameters))
  const done = new Map<number, DocumentChunks>()
  const bad = new Map<number, PolicyBlockError>()

  await context.each(documents, async (document, number) => {
    // They are begun in order: what comes after the first bad one cannot change the outcome.
    if (bad.size > 0) return
    try {
      done.set(number, await chunkedDocument(context, { document, number, chunksOf }))
    } catch (error) {
      if (!(error instanceof PolicyBlockError)) throw error
      bad.set(number, error)
    }
    context.progress({ done: done.size, total: documents.length, unit: 'documents' })
  })
  for (const [, error] of [...bad].toSorted(([left], [right]) => left - right)) throw error

  const chunked = documents.map(({ name }, number) => ({ name, number, made: done.get(number) }))
  await reportUnusable(context, chunked.map(({ name, made }) => ({ name, unusable: made?.unusable ?? null })))
  return {
    chunks: chunked.flatMap(({ made }) => made?.chunks ?? []),
    quarantined: chunked.flatMap(({ made }) => made?.quarantined ?? []),
    texts: chunked.flatMap(({ number, made }) => (made?.masked ? [{ document: number, text: made.masked }] : [])),
  }
}

type Work = {
  readonly document: ParsedDocument
  readonly number: number
  readonly chunksOf: DocumentChunker
}

const chunkedDocument = async (context: Context, { document, number, chunksOf }: Work): Promise<DocumentChunks> => {
  const key = String(number)
  const known = await context.checkpointed(key)
  if (known !== null) return known.value
  const { text, structure } = await readText(context, document, document.text)
  const { chunks, passages, masked, unusable } = await chunksOf({ name: document.name, text, ...structure })
  const safe = masked === null ? null : await context.putArtifact(Buffer.from(masked, 'utf8'), document.text.mediaType)
  const made: DocumentChunks = {
    chunks: numberedChunks(number, chunks),
    quarantined: passages.map(({ detail, ...place }) => ({
      stage: 'chunk',
      reason: 'personal_data',
      detail: `it has ${detail}`,
      document: document.name,
      sourceSpan: { source: document.source, text: (safe ?? document.text).sha256, ...place },
    })),
    masked: safe,
    unusable,
  }
  await context.checkpoint(key, made)
  return made
}

/** Chunks under the names that they go by from here on. */
export const numberedChunks = (document: number, chunks: ChunkedDocument['chunks']): Chunk[] =>
  chunks.map((each, nth) => ({ ...each, id: `${document}-${nth}`, document, headings: [...each.headings] }))

const namedMax = 10

const reportUnusable = async (
  context: Context,
  documents: readonly { readonly name: string; readonly unusable: string | null }[],
): Promise<void> => {
  const unusable = documents.filter((each) => each.unusable !== null)
  if (unusable.length === 0) return
  const named = unusable.slice(0, namedMax).map((each) => `${each.name}: ${each.unusable}`)
  const others = unusable.length > namedMax ? [`and ${unusable.length - namedMax} more`] : []
  const reasons = [...named, ...others].join('; ')
  if (unusable.length === documents.length) {
    throw new InvalidInputError(`nothing can be asked about any document: ${reasons}`, { rule: 'no_chunk' })
  }
  await context.log('warn', `left out of the dataset: ${reasons}`)
}
