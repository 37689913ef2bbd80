import { expect, test } from 'vitest'
import { canonical } from '../../../../domain/canonical.ts'
import { InvalidInputError } from '../../../../domain/errors.ts'
import type { DatasetInput } from '../../../../server/jobs/dataset/datasetInput.ts'
import { exportDataset } from '../../../../server/jobs/dataset/exportStage.ts'
import { hashOf } from '../../../../server/jobs/dataset/hash.ts'
import type { Example, ParseResult, Quarantined, SiftResult } from '../../../../server/jobs/dataset/stageResults.ts'
import { version } from '../../../../server/jobs/dataset/versionStage.ts'
import { stageContext, stageLog, type StageLog, stored } from '../../../support/stageContext.ts'

const input: DatasetInput = { documents: [], licenseFiles: [] }
const callId = hashOf('a call')
const texts = ['The wall is nine metres high. 𝒳 marks its end.', 'Salt cuts fibres. Wash every rope.', 'Nothing was asked about this.']

type Sifted = { examples: Example[]; quarantined: Quarantined[] }

/** A job that has come as far as `dedup_balance`: an example of each of two documents, and one passage left out. */
const sifted = (): { log: StageLog; dedup: Sifted; leftOut: Quarantined } => {
  const log = stageLog()
  const parsed: ParseResult = {
    documents: texts.map((text, number) => ({
      name: `d${number}.md`,
      mediaType: 'text/markdown',
      license: number === 0 ? 'CC-BY-4.0' : null,
      source: hashOf(`original ${number}`),
      text: stored(log, Buffer.from(text), 'text/plain'),
      structure: stored(log, Buffer.from('{"blocks":[],"pages":[]}'), 'application/json'),
      characters: text.length,
      pages: 0,
      notes: [],
    })),
  }
  const span = (number: number, quote: string) => {
    const start = texts[number]!.indexOf(quote)
    const { source, text } = parsed.documents[number]!
    return { source, text: text.sha256, start, end: start + quote.length }
  }
  const example = (number: number, quote: string): Example => ({
    id: `${number}-0-summary`,
    document: number,
    family: 'summary',
    question: `What of ${number}?`,
    answer: quote,
    quote,
    sourceSpan: span(number, quote),
    callId,
  })
  const leftOut: Quarantined = { stage: 'validate', reason: 'not_grounded', detail: 'it is not', document: 'd2.md', sourceSpan: span(2, 'this') }
  const dedup: Sifted = { examples: [example(0, '𝒳 marks its end.'), example(1, 'Wash every rope.')], quarantined: [] }
  const none: SiftResult = { examples: [], quarantined: [] }
  const chunk = { id: '0-0', document: 0, start: 0, end: 10, tokens: 3, headings: [] }
  log.results.set('parse', parsed)
  log.results.set('chunk', { chunks: [chunk], quarantined: [], texts: [] })
  log.results.set('plan', { target: 2, seed: 1, planned: [{ chunk, families: ['summary', 'definition'] }] })
  log.results.set('validate', { ...none, quarantined: [leftOut] })
  log.results.set('quality', none)
  log.results.set('dedup_balance', dedup)
  return { log, dedup, leftOut }
}

const exported = async (log: StageLog, parameters: Record<string, unknown> = {}) => {
  const options = { input, log, parameters }
  log.results.set('version', await version(stageContext<DatasetInput>('version', options).context))
  const output = await exportDataset(stageContext<DatasetInput>('export', options).context)
  const text = (path: string): string => Buffer.from(log.artifacts.get(output.files.find((file) => file.path === path)!.ref.sha256)!).toString()
  return { output, text, paths: output.files.map(({ path }) => path) }
}

test('a dataset is two splits, what was left out, its texts, a card, a manifest and their sums', async () => {
  const { output, paths, text } = await exported(sifted().log)
  const sources = texts.map((each) => `sources/${hashOf(each)}.txt`)
  expect(paths.toSorted()).toEqual(
    ['README.md', 'SHA256SUMS', 'manifest.json', 'quarantine.jsonl', 'test.jsonl', 'train.jsonl', ...sources].toSorted(),
  )
  expect(output).toMatchObject({ documents: 3, chunks: 1, planned: 2, examples: 2, train: 1, test: 1, quarantined: 1 })
  expect(text('manifest.json')).toBe(canonical(JSON.parse(text('manifest.json'))))
  expect(output.version).toBe(hashOf(text('manifest.json')))
})

test('each line has its messages, the slice that its span names, and what it is known by', async () => {
  const { text } = await exported(sifted().log)
  const lines = [...text('train.jsonl').split('\n'), ...text('test.jsonl').split('\n')].filter((line) => line !== '')
  for (const line of lines.map((each) => JSON.parse(each))) {
    const source = text(`sources/${line.sourceSpan.text}.txt`)
    expect(source.slice(line.sourceSpan.start, line.sourceSpan.end)).toBe(line.quote)
    expect(line.contentHash).toBe(hashOf(canonical(line.messages)))
    expect(line.callId).toBe(callId)
  }
  expect(new Set(lines.map((line) => JSON.parse(line).license))).toEqual(new Set(['CC-BY-4.0', null]))
})

test('the sums are those of every other file, in the order of their paths', async () => {
  const { output, text } = await exported(sifted().log)
  const sums = text('SHA256SUMS').trimEnd().split('\n').map((line) => line.split('  '))
  expect(sums).toHaveLength(output.files.length - 1)
  const listed = sums.map(([, path = '']) => path)
  expect(listed.every((path, nth) => nth === 0 || listed[nth - 1]! < path)).toBe(true)
  for (const [sha256, path = ''] of sums) expect(hashOf(text(path)), path).toBe(sha256)
})

test('what was left out stands there with its reason', async () => {
  const { text } = await exported(sifted().log)
  expect(JSON.parse(text('quarantine.jsonl'))).toMatchObject({ stage: 'validate', reason: 'not_grounded', document: 'd2.md' })
  expect(text('README.md')).toMatch(/\| validate \| not_grounded \| 1 \|/)
})

test('the same answers have the same version, and another answer another', async () => {
  const first = await exported(sifted().log)
  expect((await exported(sifted().log)).output).toEqual(first.output)
  const { log, dedup } = sifted()
  dedup.examples[0] = { ...dedup.examples[0]!, answer: 'another' }
  expect((await exported(log)).output.version).not.toBe(first.output.version)
})

test('a version that was expected and did not come is named', async () => {
  const { output } = await exported(sifted().log)
  expect((await exported(sifted().log, { expectVersion: output.version })).output).toEqual(output)
  const other = hashOf('another')
  await expect(exported(sifted().log, { expectVersion: other })).rejects.toThrow(`came to version ${output.version}, and expectVersion is ${other}`)
})

test('a line that would not hold is never written: the text it names says something else there', async () => {
  const { log, dedup } = sifted()
  const [first] = dedup.examples
  dedup.examples[0] = { ...first!, sourceSpan: { ...first!.sourceSpan, start: first!.sourceSpan.start + 1 } }
  await expect(exported(log)).rejects.toThrow(/example 0-0-summary quotes d0\.md at 31 to 47, which its stored text does not say there/)
})

test('a line is not written either where the stored text was changed, or where it names another original', async () => {
  const damaged = sifted()
  damaged.log.artifacts.set(hashOf(texts[1]!), Buffer.from(texts[1]!.replace('rope', 'sail')))
  await expect(exported(damaged.log)).rejects.toThrow(/example 1-0-summary quotes d1\.md at 18 to 34/)
  const { log, dedup } = sifted()
  const [first] = dedup.examples
  dedup.examples[0] = { ...first!, sourceSpan: { ...first!.sourceSpan, source: hashOf('original 1') } }
  await expect(exported(log)).rejects.toThrow(/example 0-0-summary quotes d0\.md/)
})

test('what was left out stands in the order of the stages', async () => {
  const { log, leftOut } = sifted()
  const of = (stage: Quarantined['stage'], reason: string): Quarantined => ({ ...leftOut, stage, reason })
  log.results.set('validate', { examples: [], quarantined: [of('validate', 'one'), of('generate', 'two'), of('validate', 'three')] })
  log.results.set('quality', { examples: [], quarantined: [of('quality', 'four')] })
  const lines = (await exported(log)).text('quarantine.jsonl').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line).reason)).toEqual(['two', 'one', 'three', 'four'])
})

test('a test set that was asked for and cannot be is refused, and one that nobody asked for is left empty', async () => {
  const ofOne = () => {
    const { log, dedup } = sifted()
    dedup.examples.pop()
    return log
  }
  await expect(exported(ofOne(), { testShare: 0.2 })).rejects.toThrow(InvalidInputError)
  await expect(exported(ofOne(), { testShare: 0.2 })).rejects.toThrow(/testShare 0\.2 needs examples of two documents, and all 1 that are left are of d0\.md/)
  expect((await exported(ofOne())).output).toMatchObject({ train: 1, test: 0 })
  expect((await exported(ofOne(), { testShare: 0 })).output).toMatchObject({ train: 1, test: 0 })
})

test('a name cannot break the card', async () => {
  const { log } = sifted()
  const parsed = log.results.get('parse') as { documents: { name: string }[] }
  parsed.documents[0]!.name = 'a | b`<script>`\n# c.md'
  parsed.documents[2]!.name = 'constructor'
  const card = (await exported(log)).text('README.md')
  expect(card).toContain('| a b script # c.md | CC-BY-4.0 | 1 |')
  expect(card).toContain('| constructor | not declared | 0 |')
})
