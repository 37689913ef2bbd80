import type { Chunk } from '../stageResults.ts'

/** All that a model was shown of a document: the chunk and the headings it stands under. */
export const chunkSource = ({ headings, start, end }: Chunk, text: string): string => [...headings, text.slice(start, end)].join('\n')
