import { InvalidInputError } from '../../../domain/errors.ts'
import type { StageContext } from '../../defineJob.ts'
import type { DatasetInput } from './datasetInput.ts'
import { datasetParameters } from './datasetParameters.ts'
import { planExamples } from './planExamples.ts'
import { ChunkResult, type PlannedChunk, type PlanResult } from './stageResults.ts'

/** Plans the examples. Raises `InvalidInputError` for a target beyond what the documents can give. */
export const plan = async (context: StageContext<DatasetInput>): Promise<PlanResult> => {
  const { chunks } = await context.result('chunk', ChunkResult)
  const { seed, families } = datasetParameters(context.parameters)
  const planned = planExamples({ chunks, target: context.target, seed, families })
  refuseImpossibleSplit(context, planned)
  return { target: planned.reduce((sum, each) => sum + each.families.length, 0), seed, planned: [...planned] }
}

/** Before anything is paid for. */
const refuseImpossibleSplit = ({ parameters, input }: StageContext<DatasetInput>, planned: readonly PlannedChunk[]): void => {
  const { testShare } = datasetParameters(parameters)
  const [first, ...others] = planned.map(({ chunk }) => chunk.document)
  const isAsked = parameters['testShare'] !== undefined && testShare > 0
  if (!isAsked || first === undefined || others.some((document) => document !== first)) return
  const name = input.documents[first]?.name ?? ''
  throw new InvalidInputError(
    `testShare ${testShare} needs two documents, and all that is planned is of ${name}: give more documents, or testShare=0`,
    { testShare, document: name },
  )
}
