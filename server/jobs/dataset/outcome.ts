import type { StageContext } from '../../defineJob.ts'
import { type DatasetInput } from './datasetInput.ts'
import { datasetParameters } from './datasetParameters.ts'
import { splitDocuments, type Split } from './splitDocuments.ts'
import { ChunkResult, type Example, type ParsedDocument, ParseResult, PlanResult, Quarantined, SiftResult } from './stageResults.ts'

export type SplitExample = {
  readonly example: Example
  readonly document: ParsedDocument
  readonly split: Split
}

/** All that the stages before have come to. */
export type Outcome = {
  readonly documents: readonly ParsedDocument[]
  readonly chunks: number
  /** Examples asked for. */
  readonly planned: number
  /** In the order of the plan. */
  readonly examples: readonly SplitExample[]
  /** In the order of the stages. */
  readonly quarantined: readonly Quarantined[]
  /** The text of each document as it is exported, by number. */
  readonly texts: readonly ParsedDocument['text'][]
}

const sifting = ['validate', 'quality', 'dedup_balance'] as const

export const outcomeOf = async (context: StageContext<DatasetInput>): Promise<Outcome> => {
  const { documents } = await context.result('parse', ParseResult)
  const { chunks, quarantined, texts } = await context.result('chunk', ChunkResult)
  const { planned } = await context.result('plan', PlanResult)
  const sifted: SiftResult[] = []
  for (const stage of sifting) sifted.push(await context.result(stage, SiftResult))
  const examples = sifted.at(-1)?.examples ?? []
  const splits = splitDocuments(
    examples.map(({ sourceSpan }) => sourceSpan),
    datasetParameters(context.parameters),
  )
  const masked = new Map(texts.map((each) => [each.document, each.text]))
  return {
    documents,
    chunks: chunks.length,
    planned: planned.reduce((sum, { families }) => sum + families.length, 0),
    examples: examples.map((example) => {
      const document = documents[example.document]
      if (document === undefined) throw new RangeError(`example ${example.id} is of document ${example.document}, which is not there`)
      return { example, document, split: splits.get(example.sourceSpan.text) ?? 'train' }
    }),
    quarantined: byStage([...quarantined, ...sifted.flatMap((each) => each.quarantined)]),
    texts: documents.map(({ text }, number) => masked.get(number) ?? text),
  }
}

/** What got no answer stands among what `validate` left out: it is the first to look for answers. */
const byStage = (quarantined: readonly Quarantined[]): readonly Quarantined[] =>
  Quarantined.shape.stage.options.flatMap((stage) => quarantined.filter((each) => each.stage === stage))
