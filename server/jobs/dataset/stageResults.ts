import { z } from 'zod'
import { ArtifactRef, Sha256Hex } from '../../../domain/job/events.ts'
import { DocumentType } from './datasetInput.ts'
import { Family } from './families.ts'

const Count = z.int().nonnegative()

/** A slice of a document's text: UTF-16 offsets, `end` exclusive. */
export const SourceSpan = z.strictObject({
  /** SHA-256 of the original document. */
  source: Sha256Hex,
  /** SHA-256 of its parsed text, as UTF-8. */
  text: Sha256Hex,
  start: Count,
  end: Count,
  page: z.int().positive().optional(),
})
export type SourceSpan = z.infer<typeof SourceSpan>

/** Something that is not in the dataset, and why. One line of `quarantine.jsonl`. */
export const Quarantined = z.strictObject({
  stage: z.enum(['chunk', 'generate', 'validate', 'quality', 'dedup_balance']),
  /** Snake case: the rule. */
  reason: z.string(),
  /** A sentence for people. Never the personal data itself. */
  detail: z.string(),
  document: z.string(),
  sourceSpan: SourceSpan,
  /** Absent for a passage that was never asked about. */
  example: z
    .strictObject({ family: Family.optional(), question: z.string(), answer: z.string(), quote: z.string(), callId: Sha256Hex })
    .optional(),
})
export type Quarantined = z.infer<typeof Quarantined>

/** `intake`: every document with what is known of it before it is read. */
export const IntakeResult = z.strictObject({
  documents: z.array(
    z.strictObject({
      name: z.string(),
      mediaType: DocumentType,
      license: z.string().nullable(),
      licenseFrom: z.enum(['document', 'license_file', 'parameter']).nullable(),
    }),
  ),
})
export type IntakeResult = z.infer<typeof IntakeResult>

/** `parse`: every document as text. `document` numbers elsewhere are places in this list, which is the input's. */
export const ParseResult = z.strictObject({
  documents: z.array(
    z.strictObject({
      name: z.string(),
      mediaType: DocumentType,
      license: z.string().nullable(),
      source: Sha256Hex,
      /** The parsed text, UTF-8. */
      text: ArtifactRef,
      /** `Structure` as JSON. */
      structure: ArtifactRef,
      characters: Count,
      pages: Count,
      notes: z.array(z.string()),
    }),
  ),
})
export type ParseResult = z.infer<typeof ParseResult>
export type ParsedDocument = ParseResult['documents'][number]

export const Chunk = z.strictObject({
  /** `<document>-<nth>`, such as `12-3`. */
  id: z.string(),
  document: Count,
  start: Count,
  end: Count,
  tokens: Count,
  /** The headings it stands under, outermost first. */
  headings: z.array(z.string()),
  page: z.int().positive().optional(),
})
export type Chunk = z.infer<typeof Chunk>

/** `chunk`: what examples may be made of, in the order of the documents, and the passages that are left out. */
export const ChunkResult = z.strictObject({
  chunks: z.array(Chunk),
  quarantined: z.array(Quarantined),
  /** Documents whose personal data is masked from here on: the text that takes the place of the parsed one. */
  texts: z.array(z.strictObject({ document: Count, text: ArtifactRef })),
})
export type ChunkResult = z.infer<typeof ChunkResult>

/** `plan`: the examples wanted of each chunk, at most one of a family. Chunks without any are not listed. */
export const PlanResult = z.strictObject({
  target: Count,
  seed: Count,
  planned: z.array(z.strictObject({ chunk: Chunk, families: z.array(Family).min(1) })),
})
export type PlanResult = z.infer<typeof PlanResult>
export type PlannedChunk = PlanResult['planned'][number]

/** The checkpoint of one chunk in `generate`: what the model answered, or why it did not. */
export const ChunkAnswer = z.union([
  z.strictObject({ callId: Sha256Hex, text: z.string(), finishReason: z.string().nullable() }),
  z.strictObject({ error: z.strictObject({ code: z.string(), message: z.string() }) }),
])
export type ChunkAnswer = z.infer<typeof ChunkAnswer>

/** `generate`: an answer for each planned chunk, in the order of the plan. */
export const GenerateResult = z.strictObject({ answers: z.array(ChunkAnswer), answered: Count, failed: Count })
export type GenerateResult = z.infer<typeof GenerateResult>

export const Example = z.strictObject({
  /** `<chunk>-<family>`, such as `12-3-summary`. */
  id: z.string(),
  document: Count,
  family: Family,
  question: z.string(),
  answer: z.string(),
  /** The words of the source that the answer stands on: the slice that `sourceSpan` names. */
  quote: z.string(),
  sourceSpan: SourceSpan,
  /** Fingerprint of the call it came from. */
  callId: Sha256Hex,
})
export type Example = z.infer<typeof Example>

/** `validate`, `quality`, `dedup_balance`: the examples still in, in the order of the plan, and those that fell out here. */
export const SiftResult = z.strictObject({ examples: z.array(Example), quarantined: z.array(Quarantined) })
export type SiftResult = z.infer<typeof SiftResult>

/** `version`: what the dataset is, by content. `version` is the SHA-256 of the manifest. */
export const VersionResult = z.strictObject({ version: Sha256Hex, manifest: ArtifactRef })
export type VersionResult = z.infer<typeof VersionResult>

/** `export`: the files, by the path each is to have, and what is in them. The job's output. */
export const DatasetOutput = z.strictObject({
  version: Sha256Hex,
  documents: Count,
  chunks: Count,
  planned: Count,
  examples: Count,
  train: Count,
  test: Count,
  quarantined: Count,
  files: z.array(z.strictObject({ path: z.string(), ref: ArtifactRef })),
})
export type DatasetOutput = z.infer<typeof DatasetOutput>
