import { InvalidInputError } from '../../../domain/errors.ts'
import { textLines, type NamedFile } from './batchFile.ts'
import { readBatchLine, type BatchLine } from './batchLine.ts'
import { named, wrongLine, type Place } from './batchPlace.ts'

const batchLinesMax = 1_000_000

/** All lines of all files, in order. Raises `InvalidInputError` for the first rule broken, naming file and line. */
export const readBatch = (files: readonly NamedFile[], linesMax = batchLinesMax): readonly BatchLine[] => {
  if (files.length === 0) throw new InvalidInputError('a batch needs a file of JSON Lines')
  const lines: BatchLine[] = []
  const places = new Map<string, Place>()
  for (const file of files) {
    const before = lines.length
    for (const { place, text } of textLines(file)) {
      if (lines.length === linesMax) throw wrongLine(place, `a batch has at most ${linesMax} lines`)
      const line = readBatchLine(text, place)
      const taken = places.get(line.id)
      if (taken !== undefined) {
        throw wrongLine(place, `id ${JSON.stringify(line.id)} is taken: it stands at ${named(taken)} already`, {
          path: '$.id',
          first: taken,
        })
      }
      places.set(line.id, place)
      lines.push(line)
    }
    if (lines.length > before) continue
    throw new InvalidInputError(`${file.name} is empty: it has no line`, { file: file.name })
  }
  return lines
}
