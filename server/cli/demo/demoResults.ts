import { z } from 'zod'
import { Usd } from '../../../domain/money.ts'
import { readText } from '../readFiles.ts'

const ResultLine = z.object({ id: z.string(), text: z.string().optional(), costUsd: Usd.optional() })

export type DemoResult = z.infer<typeof ResultLine> & {
  /** As it stands in the file. */
  readonly line: string
}

const bytesMax = 64 * 1_048_576

/** The lines of `results.jsonl`. */
export const readResults = async (path: string): Promise<readonly DemoResult[]> =>
  (await readText(path, bytesMax))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => ({ ...ResultLine.parse(JSON.parse(line)), line }))
