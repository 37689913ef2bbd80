import { setImmediate } from 'node:timers/promises'
import { InvalidInputError } from '../../../domain/errors.ts'
import { Interrupted, type StageContext } from '../../defineJob.ts'
import type { DatasetInput } from './datasetInput.ts'
import { textOf } from './documentTexts.ts'
import { qualityRules, type Source, sourceOf } from './qualityRules.ts'
import { chunkSource } from './sift/chunkSource.ts'
import { type Example, PlanResult, type Quarantined, SiftResult } from './stageResults.ts'

type Context = StageContext<DatasetInput>

/**
 * Keeps the examples that break no rule of `qualityRules`; the others are left out with all they break. Raises
 * `InvalidInputError` where none is left, naming the commonest rule and the first document.
 */
export const quality = async (context: Context): Promise<SiftResult> => {
  const { examples } = await context.result('validate', SiftResult)
  const sourceFor = await sourceReader(context)
  const kept: Example[] = []
  const quarantined: Quarantined[] = []
  for (const [nth, example] of examples.entries()) {
    const { document, source } = await sourceFor(example)
    const broken = brokenRules(example, source)
    if (broken.length === 0) kept.push(example)
    else quarantined.push(leftOut(example, document, broken))
    context.progress({ done: nth + 1, total: examples.length, unit: 'examples' })
    await setImmediate()
    if (context.signal.aborted) throw new Interrupted()
  }
  if (kept.length === 0) throw nothingLeft(quarantined)
  return { examples: kept, quarantined }
}

type Read = { readonly id: string; readonly document: string; readonly source: Source }

/** Reads the chunk of an example; those of one chunk come one after the other, and read it once. */
const sourceReader = async (context: Context): Promise<(example: Example) => Promise<Read>> => {
  const { planned } = await context.result('plan', PlanResult)
  const chunks = new Map(planned.map(({ chunk }) => [chunk.id, chunk]))
  let last: Read | null = null
  return async ({ id, family }) => {
    const chunkId = id.slice(0, -family.length - 1)
    if (last?.id === chunkId) return last
    const chunk = chunks.get(chunkId)
    if (chunk === undefined) throw new Error(`example ${id} is of no planned chunk`)
    const { document, text } = await textOf(context, chunk.document)
    last = { id: chunkId, document: document.name, source: sourceOf(chunkSource(chunk, text)) }
    return last
  }
}

type Broken = { readonly reason: string; readonly problem: string }

const brokenRules = (example: Example, source: Source): readonly Broken[] =>
  Object.entries(qualityRules).flatMap(([reason, rule]) => {
    const problem = rule({ ...example, source })
    return problem === null ? [] : [{ reason, problem }]
  })

const leftOut = ({ sourceSpan, family, question, answer, quote, callId }: Example, document: string, broken: readonly Broken[]): Quarantined => ({
  stage: 'quality',
  reason: broken[0]?.reason ?? '',
  detail: broken.map(({ reason, problem }) => `${reason}: ${problem}`).join('; '),
  document,
  sourceSpan,
  example: { family, question, answer, quote, callId },
})

const nothingLeft = (quarantined: readonly Quarantined[]): InvalidInputError => {
  const counts = new Map<string, number>()
  for (const { reason } of quarantined) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  const [rule = 'no_example', count = 0] = [...counts].toSorted(([, one], [, other]) => other - one)[0] ?? []
  const first = quarantined.find(({ reason }) => reason === rule)
  const document = first?.document ?? ''
  return new InvalidInputError(
    `no example of ${quarantined.length} is good enough: ${count} of them for ${rule}, the first of ${document} (${first?.detail ?? ''})`,
    { document, rule, examples: quarantined.length },
  )
}
