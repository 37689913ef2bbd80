import { z } from 'zod'
import { DocumentType } from '../datasetInput.ts'
import type { Structure } from '../parsedText.ts'
import { parseDocument } from './parseDocument.ts'

export const ReadRequest = z.strictObject({
  type: DocumentType,
  name: z.string(),
  content: z.custom<Uint8Array>((value) => value instanceof Uint8Array),
})
export type ReadRequest = z.infer<typeof ReadRequest>

/** A parsed document as it is stored. Its structure is JSON already: it may have a million blocks. */
export const ReadDocument = z.strictObject({
  text: z.string(),
  /** `Structure` as JSON. */
  structure: z.string(),
  pages: z.int().nonnegative(),
  declared: z.record(z.string(), z.string()),
  notes: z.array(z.string()),
})
export type ReadDocument = z.infer<typeof ReadDocument>

/** Reads a document where it is called: see `parseDocument` for what it raises. */
export const readDocument = async ({ type, name, content }: ReadRequest): Promise<ReadDocument> => {
  const { text, blocks, pages, declared, notes } = await parseDocument(type, name, content)
  const structure: Structure = { blocks, pages }
  return { text, structure: JSON.stringify(structure), pages: pages.length, declared: { ...declared }, notes: [...notes] }
}
