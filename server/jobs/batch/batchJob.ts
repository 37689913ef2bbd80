import { InvalidInputError } from '../../../domain/errors.ts'
import { defineJob, type StageContext } from '../../defineJob.ts'
import { BatchInput, batchLines } from './batchInput.ts'
import { requester } from './batchRequest.ts'
import { BatchOutput, exportResults } from './exportResults.ts'
import { generate } from './generate.ts'
import { readBatch } from './readBatch.ts'

/** Checks all lines before the first is paid for: an input may also have come in by reference, past `inspect`. */
const intake = async (context: StageContext<BatchInput>): Promise<{ lines: number }> => {
  const lines = await batchLines(context)
  if (lines.length !== context.input.lines) {
    throw new InvalidInputError(`the files have ${lines.length} lines, not ${context.input.lines} as submitted`)
  }
  const requestOf = requester(context)
  for (const line of lines) requestOf(line)
  return { lines: lines.length }
}

/** Asks the provider once for each line of JSON Lines files, and writes `results.jsonl` in the order of the lines. */
export const batchJob = defineJob({
  type: 'batch',
  version: 1,
  input: BatchInput,
  stages: [
    { name: 'intake', run: intake },
    { name: 'generate', run: generate },
    { name: 'export', run: exportResults },
  ],
  inspect: (files, settings) => {
    const lines = readBatch(files.map(({ file }) => file))
    return {
      input: { files: files.map(({ ref }) => ref), lines: lines.length },
      calls: lines.map(requester(settings)).map((request) => ({ stage: 'generate', request })),
    }
  },
  files: (output) => [{ path: 'results.jsonl', ref: BatchOutput.parse(output).results }],
})
