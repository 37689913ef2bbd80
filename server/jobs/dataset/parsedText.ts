import { z } from 'zod'

const Offset = z.int().nonnegative()

/** A part of a text that reads as one, as UTF-16 offsets into it: `start` inclusive, `end` exclusive. */
export const Block = z.strictObject({
  kind: z.enum(['heading', 'paragraph', 'list', 'table', 'code', 'quote']),
  /** Of a heading, from 1. */
  level: z.int().min(1).max(6).optional(),
  start: Offset,
  end: Offset,
})
export type Block = z.infer<typeof Block>

/** Where a page of a paged document stands in its text. */
export const Page = z.strictObject({ number: z.int().positive(), start: Offset, end: Offset })
export type Page = z.infer<typeof Page>

/** How a text is built. Blocks are in order and do not overlap; what stands between them is white space. */
export const Structure = z.strictObject({
  blocks: z.array(Block),
  /** Empty where the document has no pages. */
  pages: z.array(Page),
})
export type Structure = z.infer<typeof Structure>

/**
 * A document as text: well-formed, lines ended by LF, no byte order mark. All offsets anywhere in a dataset are into
 * this text. `declared` is what the document says of itself.
 */
export type ParsedText = Structure & {
  readonly text: string
  readonly declared: Declared
  /** What was left out or had to be guessed, as sentences for people (`page 3 has no text`). */
  readonly notes: readonly string[]
}

/** Front matter, `<meta>` tags and document properties, in lower case names: `license`, `confidential`, `title`, … */
export type Declared = Readonly<Record<string, string>>

/** The heading that a place stands under comes from the blocks; the page of an offset from the pages. */
export const pageAt = (pages: readonly Page[], offset: number): number | undefined =>
  pages.findLast((page) => page.start <= offset)?.number
