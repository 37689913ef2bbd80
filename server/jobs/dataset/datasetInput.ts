import { z } from 'zod'
import { ArtifactRef, Sha256Hex } from '../../../domain/job/events.ts'

export const mediaTypes = {
  markdown: 'text/markdown',
  text: 'text/plain',
  html: 'text/html',
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
} as const

export const DocumentType = z.enum(mediaTypes)
export type DocumentType = z.infer<typeof DocumentType>

/** What stays within these is held in memory while it is submitted. */
export const documentsMax = 10_000
export const documentBytesMax = 32 * 1_048_576
export const documentsBytesMax = 1_024 * 1_048_576

/** A document as it was submitted: the name people know it by, its bytes by their hash, and what they are. */
export const SubmittedDocument = z.strictObject({
  /** Relative to the folder given, with forward slashes. */
  name: z.string().min(1).max(1_000),
  original: ArtifactRef.extend({ mediaType: DocumentType }),
})
export type SubmittedDocument = z.infer<typeof SubmittedDocument>

/** A `LICENSE` file: it speaks for the documents of its folder and of those below without one of their own. */
export const LicenseFile = z.strictObject({ name: z.string().min(1).max(1_000), sha256: Sha256Hex, license: z.string().max(200) })
export type LicenseFile = z.infer<typeof LicenseFile>

/** What a dataset is made of: its documents in the order of their names. */
export const DatasetInput = z.strictObject({
  documents: z.array(SubmittedDocument).min(1).max(documentsMax),
  licenseFiles: z.array(LicenseFile).max(documentsMax),
})
export type DatasetInput = z.infer<typeof DatasetInput>
