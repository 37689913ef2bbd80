import { canonical } from '../../../domain/canonical.ts'
import { InvalidInputError } from '../../../domain/errors.ts'
import type { StageContext } from '../../defineJob.ts'
import { unhurried } from './chunks/unhurried.ts'
import type { DatasetInput } from './datasetInput.ts'
import { datasetParameters } from './datasetParameters.ts'
import { contentHashOf } from './exampleLine.ts'
import { hashOf } from './hash.ts'
import { type Outcome, outcomeOf } from './outcome.ts'
import type { Split } from './splitDocuments.ts'
import type { VersionResult } from './stageResults.ts'
import { tally } from './tally.ts'

/**
 * Says what the dataset is by the hashes of its content: no clock, no cost, no job. The same documents, parameters and
 * answers have the same version wherever they are made. Raises `InvalidInputError` where another was expected.
 */
export const version = async (context: StageContext<DatasetInput>): Promise<VersionResult> => {
  const { expectVersion, ...parameters } = datasetParameters(context.parameters)
  const outcome = await outcomeOf(context)
  const manifest = canonical({
    format: 'knovaryn-dataset/1',
    model: context.model,
    target: context.target,
    parameters,
    documents: documentsOf(outcome),
    counts: countsOf(outcome),
    examples: { train: await hashesOf(outcome, 'train'), test: await hashesOf(outcome, 'test') },
  })
  const made = hashOf(manifest)
  if (expectVersion !== undefined && expectVersion !== made) {
    throw new InvalidInputError(
      `the dataset came to version ${made}, and expectVersion is ${expectVersion}: documents, parameters, model or its answers have changed`,
      { version: made, expectVersion },
    )
  }
  return { version: made, manifest: await context.putArtifact(Buffer.from(manifest, 'utf8'), 'application/json') }
}

const documentsOf = ({ documents, examples, texts }: Outcome) => {
  const own = new Map<number, { split: string; examples: number }>()
  for (const { example, split } of examples) {
    own.set(example.document, { split, examples: (own.get(example.document)?.examples ?? 0) + 1 })
  }
  return documents.map(({ name, source, mediaType, license }, number) => ({
    name,
    source,
    text: texts[number]?.sha256 ?? null,
    mediaType,
    license,
    split: own.get(number)?.split ?? null,
    examples: own.get(number)?.examples ?? 0,
  }))
}

const hashesOf = async ({ examples }: Outcome, wanted: Split): Promise<readonly string[]> => {
  const hashes: string[] = []
  for await (const { example, split } of unhurried(examples)) if (split === wanted) hashes.push(contentHashOf(example))
  return hashes
}

const countsOf = ({ documents, chunks, planned, examples, quarantined }: Outcome) => ({
  documents: documents.length,
  chunks,
  planned,
  examples: examples.length,
  quarantined: quarantined.length,
  families: tally(examples.map(({ example }) => example.family)),
  reasons: tally(quarantined.map(({ stage, reason }) => `${stage}/${reason}`)),
})
