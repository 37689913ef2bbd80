import { InvalidInputError } from '../../../domain/errors.ts'
import type { ArtifactRef } from '../../../domain/job/events.ts'
import type { StageContext } from '../../defineJob.ts'
import { unhurried } from './chunks/unhurried.ts'
import { datasetCard } from './datasetCard.ts'
import type { DatasetInput } from './datasetInput.ts'
import { datasetParameters } from './datasetParameters.ts'
import { textOf } from './documentTexts.ts'
import { exampleLine } from './exampleLine.ts'
import { type Outcome, outcomeOf, type SplitExample } from './outcome.ts'
import type { Split } from './splitDocuments.ts'
import { type DatasetOutput, VersionResult } from './stageResults.ts'

type Context = StageContext<DatasetInput>
type File = DatasetOutput['files'][number]

/**
 * Writes the dataset. Each line is checked against the stored text that it names before it is written. Raises
 * `InvalidInputError` for a line that would not hold, and for a test set that was asked for and cannot be.
 */
export const exportDataset = async (context: Context): Promise<DatasetOutput> => {
  const { version, manifest } = await context.result('version', VersionResult)
  const outcome = await outcomeOf(context)
  refuseImpossibleSplit(context, outcome)
  await refuseWrongSpans(context, outcome)

  const parts: readonly File[] = [
    await written(context, 'train.jsonl', examplesOf(outcome, 'train')),
    await written(context, 'test.jsonl', examplesOf(outcome, 'test')),
    await written(context, 'quarantine.jsonl', quarantineOf(outcome)),
    await written(context, 'README.md', [datasetCard(outcome, { version, model: context.model, parameters: datasetParameters(context.parameters) })]),
    { path: 'manifest.json', ref: manifest },
    ...sourcesOf(outcome),
  ]
  const sums = parts.toSorted((one, other) => (one.path < other.path ? -1 : 1)).map(({ path, ref }) => `${ref.sha256}  ${path}\n`)
  const count = (wanted: Split): number => outcome.examples.filter(({ split }) => split === wanted).length
  return {
    version,
    documents: outcome.documents.length,
    chunks: outcome.chunks,
    planned: outcome.planned,
    examples: outcome.examples.length,
    train: count('train'),
    test: count('test'),
    quarantined: outcome.quarantined.length,
    files: [...parts, await written(context, 'SHA256SUMS', sums)],
  }
}

const written = async (context: Context, path: string, lines: Iterable<string>): Promise<File> => {
  const rows: Uint8Array[] = []
  for await (const line of unhurried(lines)) rows.push(Buffer.from(line, 'utf8'))
  return { path, ref: await context.putArtifact(Buffer.concat(rows), mediaTypeOf(path)) }
}

const mediaTypeOf = (path: string): string =>
  path.endsWith('.jsonl') ? 'application/jsonl' : path.endsWith('.md') ? 'text/markdown' : 'text/plain'

function* examplesOf({ examples }: Outcome, wanted: Split): Generator<string> {
  for (const { example, document, split } of examples) if (split === wanted) yield exampleLine(example, document)
}

function* quarantineOf({ quarantined }: Outcome): Generator<string> {
  for (const each of quarantined) yield `${JSON.stringify(each)}\n`
}

/** The texts that some line points into. */
const sourcesOf = ({ examples, quarantined, texts }: Outcome): readonly File[] => {
  const named = new Set([...examples.map(({ example }) => example.sourceSpan.text), ...quarantined.map(({ sourceSpan }) => sourceSpan.text)])
  const refs = new Map<string, ArtifactRef>(texts.map((ref) => [ref.sha256, ref]))
  return [...refs.values()].filter(({ sha256 }) => named.has(sha256)).map((ref) => ({ path: `sources/${ref.sha256}.txt`, ref }))
}

/** That every example can be found in its source is what the dataset is trusted for. */
const refuseWrongSpans = async (context: Context, { examples }: Outcome): Promise<void> => {
  for await (const { example, document } of unhurried(examples)) {
    const { text, textRef } = await textOf(context, example.document)
    const { source, start, end, text: named } = example.sourceSpan
    const isOfText = source === document.source && named === textRef.sha256
    if (isOfText && text.slice(start, end) === example.quote) continue
    throw new InvalidInputError(
      `example ${example.id} quotes ${document.name} at ${start} to ${end}, which its stored text does not say there`,
      { example: example.id, document: document.name, start, end },
    )
  }
}

/** Only what is left can tell: a share that nobody asked for is not missed. */
const refuseImpossibleSplit = (context: Context, { examples }: Outcome): void => {
  const { testShare } = datasetParameters(context.parameters)
  const isAsked = context.parameters['testShare'] !== undefined && testShare > 0
  if (!isAsked || examples.some(({ split }) => split === 'test')) return
  throw new InvalidInputError(
    `testShare ${testShare} needs examples of two documents, and all ${examples.length} that are left are of ${namesOf(examples)}: ` +
      'give more documents, or testShare=0',
    { testShare, examples: examples.length },
  )
}

const namesOf = (examples: readonly SplitExample[]): string =>
  [...new Set(examples.map(({ document }) => document.name))].slice(0, 3).join(', ')
