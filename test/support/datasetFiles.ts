import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Every file under a folder by its path from there, as the hash of its bytes. */
export const filesUnder = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder, { withFileTypes: true, recursive: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.path, entry.name))
      .toSorted()
      .map((path) => [path.slice(folder.length + 1), createHash('sha256').update(readFileSync(path)).digest('hex')]),
  )

type Line = {
  readonly document: string
  readonly quote: string
  readonly sourceSpan: { readonly text: string; readonly start: number; readonly end: number }
}

/** Every exported line with the slice of the stored source that its span names. */
export const spansOf = (folder: string) =>
  ['train.jsonl', 'test.jsonl']
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => {
      const { document, quote, sourceSpan } = JSON.parse(line) as Line
      const text = readFileSync(join(folder, 'sources', `${sourceSpan.text}.txt`), 'utf8')
      return { document, quote, slice: text.slice(sourceSpan.start, sourceSpan.end) }
    })
