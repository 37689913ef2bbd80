import { availableParallelism } from 'node:os'
import { InvalidInputError, PolicyBlockError } from '../../../../domain/errors.ts'
import type { StageContext } from '../../../defineJob.ts'
import type { DatasetInput, SubmittedDocument } from '../datasetInput.ts'
import { refuseConfidential } from '../policy/confidential.ts'
import { licenseOf, refuseBlockedLicense } from '../policy/license.ts'
import { IntakeResult, ParseResult, type ParsedDocument } from '../stageResults.ts'
import { parseApart, type ParseApart } from './parseApart.ts'

/** The checkpoint of one document. */
export const ParsedCheckpoint = ParseResult.shape.documents.element

type Context = StageContext<DatasetInput, ParsedDocument>

/**
 * Stores each document as text, with its structure. Raises `InvalidInputError` or `PolicyBlockError` for the first
 * document, in order, that cannot be read or may not be used.
 */
export const parse = async (context: Context): Promise<ParseResult> => {
  const { documents } = context.input
  const taken = (await context.result('intake', IntakeResult)).documents
  const apart = parseApart({ threads: Math.min(context.concurrency, availableParallelism()), signal: context.signal })
  const parsed = new Map<number, ParsedDocument>()
  const bad = new Map<number, Error>()

  try {
    await context.each(documents, async (document, index) => {
      // They are begun in order: what comes after the first bad one cannot change the outcome.
      if (bad.size > 0) return
      try {
        parsed.set(index, await parsedDocument(context, apart, { document, index, taken: taken[index] }))
      } catch (error) {
        if (!(error instanceof InvalidInputError || error instanceof PolicyBlockError)) throw error
        bad.set(index, error)
      }
      context.progress({ done: parsed.size, total: documents.length, unit: 'documents' })
    })
  } finally {
    await apart.close()
  }
  for (const index of documents.keys()) {
    const error = bad.get(index)
    if (error !== undefined) throw error
  }
  return { documents: [...parsed].toSorted(([left], [right]) => left - right).map(([, each]) => each) }
}

type Work = {
  readonly document: SubmittedDocument
  readonly index: number
  readonly taken: IntakeResult['documents'][number] | undefined
}

const parsedDocument = async (context: Context, apart: ParseApart, { document, index, taken }: Work): Promise<ParsedDocument> => {
  const key = String(index)
  const known = await context.checkpointed(key)
  if (known !== null) return known.value
  const { name, original } = document
  const type = original.mediaType
  const read = await apart.read({ type, name, bytes: original.bytes, load: () => context.getArtifact(original) })
  refuseConfidential(name, read)
  // What a document says of itself goes before what is said of its folder or of all.
  const own = licenseOf(read.declared)
  if (own !== null) refuseBlockedLicense(name, own)
  const license = taken?.licenseFrom === 'document' ? taken.license : (own ?? taken?.license ?? null)
  for (const note of read.notes) await context.log('warn', `${name}: ${note}`)

  const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
  const parsed: ParsedDocument = {
    name,
    mediaType: type,
    license,
    source: original.sha256,
    text: await context.putArtifact(encode(read.text), 'text/plain'),
    structure: await context.putArtifact(encode(read.structure), 'application/json'),
    characters: read.text.length,
    pages: read.pages,
    notes: read.notes,
  }
  await context.checkpoint(key, parsed)
  return parsed
}
