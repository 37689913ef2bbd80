import type { ArtifactRef } from '../../../domain/job/events.ts'
import type { StageContext } from '../../defineJob.ts'
import { Structure } from './parsedText.ts'
import { ChunkResult, ParseResult, type ParsedDocument } from './stageResults.ts'

/** A document's text as all offsets are into it and as it is exported: what is quarantined as personal is masked in it. */
export type DocumentText = {
  readonly document: ParsedDocument
  readonly textRef: ArtifactRef
  readonly text: string
  readonly structure: Structure
}

type Reader = Pick<StageContext<unknown>, 'result' | 'getArtifact'>

/** Kept of one stage's run, in UTF-16 units; the last one read is always kept. */
const keptUnitsMax = 16 * 1_048_576

type Kept = {
  readonly documents: Promise<readonly { readonly document: ParsedDocument; readonly textRef: ArtifactRef }[]>
  /** By number of the document, the one least recently asked for first. */
  readonly texts: Map<number, Promise<DocumentText>>
}

const keptOf = new WeakMap<Reader, Kept>()

/** The text of a document by its number, for the stages after `chunk`. Asking for documents in order reads each once. */
export const textOf = async (context: Reader, document: number): Promise<DocumentText> => {
  const kept = keptOf.get(context) ?? { documents: listed(context), texts: new Map<number, Promise<DocumentText>>() }
  keptOf.set(context, kept)
  const documents = await kept.documents
  const found = documents[document]
  if (found === undefined) throw new RangeError(`there is no document ${document}: there are ${documents.length}`)
  const reading = kept.texts.get(document) ?? readText(context, found.document, found.textRef)
  kept.texts.delete(document)
  kept.texts.set(document, reading)
  let units = 0
  for (const number of [...kept.texts.keys()].toReversed()) {
    units += documents[number]?.document.characters ?? 0
    if (units > keptUnitsMax && number !== document) kept.texts.delete(number)
  }
  return reading
}

/** Reads a document by the text given: the parsed one, or that with its personal data masked. */
export const readText = async (
  context: Pick<Reader, 'getArtifact'>,
  document: ParsedDocument,
  textRef: ArtifactRef,
): Promise<DocumentText> => {
  const [text, structure] = await Promise.all([context.getArtifact(textRef), context.getArtifact(document.structure)])
  return {
    document,
    textRef,
    text: Buffer.from(text).toString('utf8'),
    structure: Structure.parse(JSON.parse(Buffer.from(structure).toString('utf8'))),
  }
}

const listed = async (context: Reader): Promise<Awaited<Kept['documents']>> => {
  const { documents } = await context.result('parse', ParseResult)
  const { texts } = await context.result('chunk', ChunkResult)
  const masked = new Map(texts.map((each) => [each.document, each.text]))
  return documents.map((document, number) => ({ document, textRef: masked.get(number) ?? document.text }))
}
