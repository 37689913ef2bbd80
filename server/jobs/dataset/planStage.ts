import type { StageContext } from '../../defineJob.ts'
import type { DatasetInput } from './datasetInput.ts'
import { datasetParameters } from './datasetParameters.ts'
import { planExamples } from './planExamples.ts'
import { ChunkResult, type PlanResult } from './stageResults.ts'

/** Plans the examples. Raises `InvalidInputError` for a target beyond what the documents can give. */
export const plan = async (context: StageContext<DatasetInput>): Promise<PlanResult> => {
  const { chunks } = await context.result('chunk', ChunkResult)
  const { seed, families } = datasetParameters(context.parameters)
  const planned = planExamples({ chunks, target: context.target, seed, families })
  return { target: planned.reduce((sum, each) => sum + each.families.length, 0), seed, planned: [...planned] }
}
