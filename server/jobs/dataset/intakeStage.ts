import { createHash } from 'node:crypto'
import { InvalidInputError, PolicyBlockError } from '../../../domain/errors.ts'
import type { StageContext } from '../../defineJob.ts'
import type { DatasetInput, SubmittedDocument } from './datasetInput.ts'
import { datasetParameters } from './datasetParameters.ts'
import { documentTypeOf } from './documents/documentType.ts'
import { wrongDocument } from './documents/wrongDocument.ts'
import { refuseConfidential } from './policy/confidential.ts'
import { firstLook } from './policy/firstLook.ts'
import { licenseOf, refuseBlockedLicense } from './policy/license.ts'
import { licenseBeside } from './policy/licenseBeside.ts'
import type { IntakeResult } from './stageResults.ts'

type Taken = IntakeResult['documents'][number]

/** Of the documents that are held in memory at one time. */
const heldBytesMax = 64 * 1_048_576

/**
 * Takes the documents in: their bytes are those that were submitted, of the type that was told, under a licence that
 * allows training data, and not marked confidential as far as can be seen before they are parsed. Raises
 * `InvalidInputError` or `PolicyBlockError` for the first document, in order, that is not.
 */
export const intake = async (context: StageContext<DatasetInput>): Promise<IntakeResult> => {
  const { documents } = context.input
  const take = taker(context)
  const taken: Taken[] = []
  for (const group of groupsOf(documents)) {
    const outcomes = new Map<number, Taken | Error>()
    await context.each(group, async (document, index) => {
      outcomes.set(index, await take(document).catch(refusal))
    })
    for (const index of group.keys()) {
      const outcome = outcomes.get(index)
      if (outcome instanceof Error) throw outcome
      if (outcome !== undefined) taken.push(outcome)
    }
    context.progress({ done: taken.length, total: documents.length, unit: 'documents' })
  }
  return { documents: taken }
}

/** Runs of documents, in order, that fit in memory together. */
function* groupsOf(documents: readonly SubmittedDocument[]): Generator<readonly SubmittedDocument[]> {
  let group: SubmittedDocument[] = []
  let bytes = 0
  for (const document of documents) {
    if (group.length > 0 && bytes + document.original.bytes > heldBytesMax) {
      yield group
      group = []
      bytes = 0
    }
    group.push(document)
    bytes += document.original.bytes
  }
  if (group.length > 0) yield group
}

const refusal = (error: unknown): Error => {
  if (error instanceof InvalidInputError || error instanceof PolicyBlockError) return error
  throw error
}

const taker = (context: StageContext<DatasetInput>): ((document: SubmittedDocument) => Promise<Taken>) => {
  const parameter = datasetParameters(context.parameters).license ?? null
  const beside = licenseBeside(context.input.licenseFiles)
  return async (document) => {
    const { name, original } = document
    const content = await context.getArtifact(original)
    refuseOther(document, content)
    const seen = await firstLook(document, content)
    refuseConfidential(name, seen)
    const own = licenseOf(seen.declared)
    const found = own === null ? beside(name) : null
    const license = own ?? found?.license ?? parameter
    if (license !== null) refuseBlockedLicense(name, license, found?.from ?? (own === null ? '--license' : undefined))
    const licenseFrom = license === null ? null : own !== null ? 'document' : found !== null ? 'license_file' : 'parameter'
    return { name, mediaType: original.mediaType, license, licenseFrom }
  }
}

/** An input may have come in past `inspectDocuments`. */
const refuseOther = ({ name, original }: SubmittedDocument, content: Uint8Array): void => {
  if (content.byteLength !== original.bytes) {
    const says = `has ${content.byteLength} bytes, not ${original.bytes} as submitted`
    throw wrongDocument(name, says, { rule: 'content_hash', bytes: content.byteLength })
  }
  const sha256 = createHash('sha256').update(content).digest('hex')
  if (sha256 !== original.sha256) {
    throw wrongDocument(name, `has the SHA-256 ${sha256}, not ${original.sha256} as submitted`, { rule: 'content_hash', sha256 })
  }
  const mediaType = documentTypeOf(name, content)
  if (mediaType === original.mediaType) return
  throw wrongDocument(name, `is ${mediaType} by its content, not ${original.mediaType} as submitted`, { rule: 'media_type', mediaType })
}
