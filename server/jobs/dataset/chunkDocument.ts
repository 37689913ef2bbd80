import { PolicyBlockError } from '../../../domain/errors.ts'
import { chunkText, type TextChunk } from './chunkText.ts'
import { masked, personalPassages } from './chunks/personalPassages.ts'
import type { TextRange } from './chunks/textRange.ts'
import type { DatasetParameters } from './datasetParameters.ts'
import { type Page, pageAt, type Structure } from './parsedText.ts'
import type { PersonalData } from './policy/personalData.ts'
import { tokenCounter } from './tokens.ts'

export type ChunkedDocument = {
  /** Those that there is enough in to ask about. */
  readonly chunks: readonly TextChunk[]
  /** Left out for the personal data in them; `detail` says of what kind it is and where, and holds nothing of it. */
  readonly passages: readonly (TextRange & { readonly detail: string; readonly page?: number })[]
  /** The text with its personal data masked, all offsets as they were; null where none was found. */
  readonly masked: string | null
  /** Why there is no chunk; null where there is one. */
  readonly unusable: string | null
}

type Named = Structure & { readonly name: string; readonly text: string }

export type DocumentChunker = (document: Named) => Promise<ChunkedDocument>

/**
 * Cuts documents into chunks, with what is personal treated as the parameters say: raises `PolicyBlockError` with
 * `privacy: block`. Loads what that takes.
 */
export const documentChunker = async ({
  privacy,
  chunkTokens,
}: Pick<DatasetParameters, 'privacy' | 'chunkTokens'>): Promise<DocumentChunker> => {
  const [count, { findPersonalData }] = await Promise.all([tokenCounter(), import('./policy/personalData.ts')])
  return async (document) => {
    const { text, blocks, pages } = document
    const found = privacy === 'allow' ? [] : findPersonalData(text)
    const [first] = found
    if (first !== undefined && privacy === 'block') throw blocked(document, first)
    const place = placeIn(document)
    const passages = [...personalPassages(text, blocks, found)].map(({ start, end, found: [one, ...others] }) => {
      const page = pageAt(pages, start)
      const kinds = [...new Set([one, ...others].map(({ kind }) => nameOf[kind]))].join(' and ')
      return { start, end, detail: `${kinds} ${place(one.start)}`, ...(page === undefined ? {} : { page }) }
    })
    // What is masked is in a gap: the mask guards against what no chunk should hold in the first place.
    const safe = found.length === 0 ? text : masked(text, found)
    const all = await chunkText({ text: safe, blocks, pages }, { chunkTokens, count, gaps: passages })
    const chunks = all.filter(({ start, end, tokens }) => isEnough(safe.slice(start, end), tokens))
    const unusable = chunks.length > 0 ? null : all.length > 0 ? tooLittle : 'all of it stands beside personal data'
    return { chunks, passages, masked: found.length === 0 ? null : safe, unusable }
  }
}

const tokensMin = 20
/** Of what is not white space: a table of numbers has fewer, and so has a drawing. */
const lettersShareMin = 0.25
const tooLittle = `no passage of it has ${tokensMin} tokens, and words enough to be asked about`

const isEnough = (slice: string, tokens: number): boolean => {
  if (tokens < tokensMin) return false
  const letters = slice.match(/\p{L}/gu)?.length ?? 0
  return letters >= lettersShareMin * slice.replace(/\s+/g, '').length
}

const nameOf: Readonly<Record<PersonalData['kind'], string>> = {
  email: 'an e-mail address',
  phone: 'a phone number',
  card: 'a card number',
  id_number: 'an id number',
}

const blocked = (document: Named, { kind, start }: PersonalData): PolicyBlockError => {
  const { name } = document
  const [page, line] = [pageAt(document.pages, start), placeIn(document)(start)]
  return new PolicyBlockError('policy_block', `${name} has ${nameOf[kind]} ${line}, and privacy is "block"`, {
    document: name,
    rule: 'personal_data',
    kind,
    ...(page === undefined ? {} : { page }),
  })
}

/** Says where an offset is, asked in rising order: on which page, or where there are none in which line of the text. */
const placeIn = ({ text, pages }: { readonly text: string; readonly pages: readonly Page[] }): ((offset: number) => string) => {
  let line = 1
  let lineEnd = text.indexOf('\n')
  return (offset) => {
    const page = pageAt(pages, offset)
    if (page !== undefined) return `on page ${page}`
    while (lineEnd !== -1 && lineEnd < offset) {
      line += 1
      lineEnd = text.indexOf('\n', lineEnd + 1)
    }
    return `in line ${line} of its text`
  }
}
