import { InvalidInputError } from '../../../domain/errors.ts'
import type { ArtifactRef } from '../../../domain/job/events.ts'
import { preview } from '../../../domain/strictJson.ts'
import type { Inspected, JobSettings, SubmittedFile } from '../../defineJob.ts'
import {
  documentBytesMax,
  documentsBytesMax,
  documentsMax,
  type DatasetInput,
  type LicenseFile,
  type SubmittedDocument,
} from './datasetInput.ts'
import { datasetParameters } from './datasetParameters.ts'
import { decodeText } from './documents/decodeText.ts'
import { documentTypeOf } from './documents/documentType.ts'
import { wrongDocument } from './documents/wrongDocument.ts'
import { licenseOfFile } from './policy/licenseOfFile.ts'

type Given = { readonly file: SubmittedFile; readonly ref: ArtifactRef }

/**
 * The input of a dataset: its documents by name, each with its type by content, and the licence files beside them.
 * Raises `InvalidInputError` naming the document for what is no document, stands twice, or is over a limit, and for
 * settings that are missing or not known.
 */
export const inspectDocuments = (files: readonly Given[], settings: JobSettings): Inspected<DatasetInput> => {
  datasetParameters(settings.parameters)
  if (settings.model === null) {
    throw new InvalidInputError('a dataset has no model to ask: name one with --model', { path: 'model' })
  }
  const named = files.toSorted((one, other) => (one.file.name < other.file.name ? -1 : 1))
  refuseNames(named)
  const licenses = named.filter(({ file }) => isLicenseFile(file.name))
  const documents = licenses.length === named.length ? named : named.filter((each) => !licenses.includes(each))
  refuseLimits(documents)
  return {
    input: {
      documents: documents.map(submittedDocument),
      licenseFiles: documents === named ? [] : licenses.map(licenseFile),
    },
    calls: [],
  }
}

const isLicenseFile = (name: string): boolean => /(?:^|\/)(?:licen[cs]e|copying)(?:\.(?:md|txt))?$/i.test(name)

const submittedDocument = ({ file: { name, content }, ref: { sha256, bytes } }: Given): SubmittedDocument => ({
  name,
  original: { sha256, bytes, mediaType: documentTypeOf(name, content) },
})

const licenseFile = ({ file: { name, content }, ref: { sha256 } }: Given): LicenseFile => {
  const { text } = decodeText(name, content)
  if (text.trim() === '') throw wrongDocument(name, 'is empty: it names no licence', { rule: 'empty' })
  return { name, sha256, license: licenseOfFile(text) }
}

const nameCharactersMax = 1_000

/** Takes files in the order of their names. */
const refuseNames = (files: readonly Given[]): void => {
  for (const [index, { file }] of files.entries()) {
    const { name } = file
    const shown = JSON.stringify(preview(name, 100))
    if (name === '' || name.length > nameCharactersMax || /[\p{Cc}\p{Cs}]/u.test(name)) {
      throw new InvalidInputError(
        `${shown} is no name of a document: it has 1 to ${nameCharactersMax} characters, none of them a control character`,
        { document: preview(name, 100), rule: 'name' },
      )
    }
    if (name !== files[index + 1]?.file.name) continue
    throw wrongDocument(name, 'is given twice: give the folder they lie in, so that each has a name of its own', { rule: 'unique_name' })
  }
}

const refuseLimits = (documents: readonly Given[]): void => {
  if (documents.length === 0) {
    throw new InvalidInputError('a dataset has no document: give it md, txt, html, pdf or docx files, or a folder of them', {
      rule: 'no_document',
    })
  }
  let bytes = 0
  for (const [index, { file }] of documents.entries()) {
    if (index === documentsMax) {
      const says = `is one document too many: a dataset has at most ${documentsMax}; submit them in parts`
      throw wrongDocument(file.name, says, { rule: 'documents', documents: documents.length, documentsMax })
    }
    const size = file.content.byteLength
    if (size > documentBytesMax) {
      const says = `has ${size} bytes, more than the ${documentBytesMax} that a document may have`
      throw wrongDocument(file.name, says, { rule: 'document_bytes', bytes: size, bytesMax: documentBytesMax })
    }
    bytes += size
    if (bytes > documentsBytesMax) {
      const says = `brings the documents to more than the ${documentsBytesMax} bytes they may have together; submit them in parts`
      throw wrongDocument(file.name, says, { rule: 'documents_bytes', bytesMax: documentsBytesMax })
    }
  }
}
