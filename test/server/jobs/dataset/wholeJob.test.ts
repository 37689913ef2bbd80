import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, describe, expect, test } from 'vitest'
import type { Submission } from '../../../../server/engine.ts'
import { type OpenPlace, workplaceOn } from '../../../support/workplaceOn.ts'

/** The dataset job from its documents, one of each format, to its files. */

const folder = new URL('../../../../server/cli/demo/documents/', import.meta.url)
const documents = readdirSync(folder).map((name) => ({ name, content: new Uint8Array(readFileSync(new URL(name, folder))) }))
const stages = ['intake', 'parse', 'chunk', 'plan', 'generate', 'validate', 'quality', 'dedup_balance', 'version', 'export']

const email = 'jane.roe@skerry-trust.org'
const staff = {
  name: 'staff.txt',
  content: new TextEncoder().encode(
    `The trust has an office on the upper quay, which is open on every working day from nine to five.\n\n` +
      `Whoever wants a berth for the winter writes to ${email} before the end of August, with the length of the boat.\n\n` +
      'The office keeps a list of all boats that lie in the harbour, and a copy of it hangs beside the door for everyone.\n',
  ),
}

const places: OpenPlace[] = []
afterEach(async () => void (await Promise.all(places.splice(0).map((place) => place.close()))))

const dataset = (over: Partial<Submission> = {}, seed = 1): Submission => ({
  type: 'dataset',
  files: [...documents, staff],
  provider: { name: 'offline' },
  model: 'offline-small',
  parameters: { chunkTokens: 100, testShare: 0.3, seed },
  target: 60,
  ...over,
})

/** Makes the dataset in a store of its own. */
const made = async (submission: Submission) => {
  const place = await workplaceOn('memory:')
  places.push(place)
  const { jobId } = await place.engine.submit(submission)
  await place.work({ only: jobId })
  const job = await place.engine.status(jobId)
  expect(job, job.errorSummary ?? '').toMatchObject({ state: 'succeeded' })
  const files = new Map<string, string>()
  for await (const { path, content } of place.engine.output(jobId)) files.set(path, Buffer.from(content).toString('utf8'))
  return { job, files }
}

type Line = {
  readonly document: string
  readonly quote: string
  readonly sourceSpan: { readonly source: string; readonly text: string; readonly start: number; readonly end: number }
}

const linesOf = (files: ReadonlyMap<string, string>): readonly Line[] =>
  ['train.jsonl', 'test.jsonl']
    .flatMap((path) => (files.get(path) ?? '').split('\n'))
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

describe('a dataset', () => {
  test('goes through ten stages, and quotes its sources letter for letter in all five formats', async () => {
    const { job, files } = await made(dataset())
    expect(job.stages).toEqual(stages)
    const lines = linesOf(files)
    expect(new Set(lines.map(({ document }) => document.split('.').at(-1)))).toEqual(new Set(['md', 'txt', 'html', 'pdf', 'docx']))
    for (const { document, quote, sourceSpan } of lines) {
      const text = files.get(`sources/${sourceSpan.text}.txt`) ?? ''
      expect(text.slice(sourceSpan.start, sourceSpan.end)).toBe(quote)
      expect(sha256(text)).toBe(sourceSpan.text)
      expect(sha256([...documents, staff].find(({ name }) => name === document)!.content)).toBe(sourceSpan.source)
    }
    for (const path of ['train.jsonl', 'test.jsonl']) expect(files.get(path)).toMatch(/^\{/)
  })

  test('of the same seed has the same bytes in another store, and of another seed others', async () => {
    const [first, second, other] = [await made(dataset()), await made(dataset()), await made(dataset({}, 2))]
    expect(second.files).toEqual(first.files)
    expect(other.files.get('train.jsonl')).not.toBe(first.files.get('train.jsonl'))
  })

  test('holds no personal data in any file, and says what is left out for it', async () => {
    const { files } = await made(dataset())
    for (const [path, content] of files) expect(content.includes(email), path).toBe(false)
    expect(files.get('quarantine.jsonl')).toMatch(/"reason":"personal_data".*e-mail address in line 3/)
  })

  test('makes the calls that were estimated', async () => {
    const place = await workplaceOn('memory:')
    places.push(place)
    const { total, basis } = await place.engine.estimate(dataset())
    const { job } = await made(dataset())
    expect({ calls: total.calls, examples: total.examples, basis }).toEqual({ calls: job.budget.callsMade, examples: 60, basis: 'definition' })
    expect(total.inputTokens.worst).toBe(job.budget.inputTokens)
    expect(job.budget.examplesProduced).toBe(60)
  })
})
