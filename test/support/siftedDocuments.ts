import { mediaTypes } from '../../server/jobs/dataset/datasetInput.ts'
import type { Family } from '../../server/jobs/dataset/families.ts'
import { hashOf } from '../../server/jobs/dataset/hash.ts'
import type { Page } from '../../server/jobs/dataset/parsedText.ts'
import type { Chunk, ChunkAnswer, ParseResult, PlannedChunk } from '../../server/jobs/dataset/stageResults.ts'
import { stageLog, stored, type StageLog } from './stageContext.ts'

/** A document of one chunk, and what is planned of it. */
export type GivenDocument = {
  readonly text: string
  readonly families?: readonly Family[]
  readonly headings?: readonly string[]
  readonly pages?: readonly Page[]
  readonly answer?: ChunkAnswer
}

export const callId = hashOf('a call')

/** An answer of the model, as it stands in the log. */
export const answered = (text: string, finishReason = 'stop'): ChunkAnswer => ({ callId, text, finishReason })

export const answeredWith = (...examples: readonly unknown[]): ChunkAnswer => answered(JSON.stringify({ examples }))

const asked: Family = 'question_answer'

/** A job that has come as far as `generate`. */
export const generatedLog = (given: readonly GivenDocument[]): StageLog => {
  const log = stageLog()
  const documents: ParseResult['documents'] = []
  const planned: PlannedChunk[] = []
  for (const [number, { text, headings = [], pages = [], families = [asked] }] of given.entries()) {
    const id = `${number}-0`
    const chunk: Chunk = { id, document: number, start: 0, end: text.length, tokens: 20, headings: [...headings] }
    documents.push({
      name: `d${number}.md`,
      mediaType: mediaTypes.markdown,
      license: null,
      source: hashOf(`original ${number}`),
      text: stored(log, Buffer.from(text), 'text/plain'),
      structure: stored(log, Buffer.from(JSON.stringify({ blocks: [], pages })), 'application/json'),
      characters: text.length,
      pages: pages.length,
      notes: [],
    })
    planned.push({ chunk, families: [...families] })
  }
  log.results.set('parse', { documents })
  log.results.set('chunk', { chunks: planned.map(({ chunk }) => chunk), quarantined: [], texts: [] })
  log.results.set('plan', { target: planned.length, seed: 1, planned })
  log.results.set('generate', { answers: given.map(({ answer }) => answer ?? answeredWith()), answered: given.length, failed: 0 })
  return log
}
