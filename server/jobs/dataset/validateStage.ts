import { setImmediate } from 'node:timers/promises'
import { InvalidInputError } from '../../../domain/errors.ts'
import { Interrupted, type StageContext } from '../../defineJob.ts'
import type { DatasetInput } from './datasetInput.ts'
import { datasetParameters } from './datasetParameters.ts'
import { textOf } from './documentTexts.ts'
import { validatedAnswer } from './sift/validatedAnswer.ts'
import { type Example, GenerateResult, PlanResult, type Quarantined, type SiftResult } from './stageResults.ts'

type Context = StageContext<DatasetInput>

/**
 * Keeps the examples that have the form asked for and stand in their chunk: the quote letter for letter, or nearly so
 * and then put right, the answer by what it speaks of. Raises `InvalidInputError` where none does, naming the first.
 */
export const validate = async (context: Context): Promise<SiftResult> => {
  const { planned } = await context.result('plan', PlanResult)
  const { answers } = await context.result('generate', GenerateResult)
  const isPersonal = await personalBy(context)
  const examples: Example[] = []
  const quarantined: Quarantined[] = []
  for (const [nth, each] of planned.entries()) {
    const answer = answers[nth]
    if (answer === undefined) throw new Error(`chunk ${each.chunk.id} has no answer`)
    const source = await textOf(context, each.chunk.document)
    const made = validatedAnswer({ planned: each, answer, source, isPersonal })
    examples.push(...made.examples)
    quarantined.push(...made.quarantined)
    context.progress({ done: nth + 1, total: planned.length, unit: 'chunks' })
    await setImmediate()
    if (context.signal.aborted) throw new Interrupted()
  }
  if (examples.length === 0) throw nothingValid(quarantined)
  return { examples, quarantined }
}

const mask = '█'

const personalBy = async ({ parameters }: Context): Promise<(text: string) => boolean> => {
  if (datasetParameters(parameters).privacy === 'allow') return () => false
  const { findPersonalData } = await import('./policy/personalData.ts')
  return (text) => text.includes(mask) || findPersonalData(text).length > 0
}

const nothingValid = (quarantined: readonly Quarantined[]): InvalidInputError => {
  const [first] = quarantined
  if (first === undefined) return new InvalidInputError('no example was planned', { rule: 'no_example' })
  const { document, reason, detail, sourceSpan } = first
  const { page, start, end } = sourceSpan
  const place = page === undefined ? `characters ${start} to ${end} of its text` : `page ${page}`
  return new InvalidInputError(`no example can be used: ${document}, ${place}: ${reason}: ${detail}`, {
    document,
    rule: reason,
    start,
    end,
    ...(page === undefined ? {} : { page }),
    examples: quarantined.length,
  })
}
