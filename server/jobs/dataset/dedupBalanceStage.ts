import { setImmediate } from 'node:timers/promises'
import { InvalidInputError } from '../../../domain/errors.ts'
import { Interrupted, type StageContext } from '../../defineJob.ts'
import { familySurplus } from './balancedFamilies.ts'
import type { DatasetInput } from './datasetInput.ts'
import { datasetParameters } from './datasetParameters.ts'
import { type Example, ParseResult, type Quarantined, SiftResult } from './stageResults.ts'

type Context = StageContext<DatasetInput>

/** Of so many examples or more, at most this share may repeat another. */
const examplesMin = 20
const repeatedMax = 0.9

/**
 * Leaves out what repeats an earlier example, word for word or nearly, and then what a family has over its share. Raises
 * `InvalidInputError` where nearly all of many examples repeat each other: the rest would stand for the documents falsely.
 */
export const dedupBalance = async (context: Context): Promise<SiftResult> => {
  const { examples } = await context.result('quality', SiftResult)
  const { documents } = await context.result('parse', ParseResult)
  const nameOf = ({ document }: Example): string => documents[document]?.name ?? ''
  const { kept, repeated } = await withoutRepeats(context, examples)
  refuseMostlyRepeated(repeated, examples.length, nameOf)
  const surplus = familySurplus(kept, datasetParameters(context.parameters).seed)
  return {
    examples: kept.filter(({ id }) => !surplus.has(id)),
    quarantined: [
      ...repeated.map(({ example, reason, detail }) => leftOut(example, nameOf(example), { reason, detail })),
      ...kept
        .filter(({ id }) => surplus.has(id))
        .map((example) =>
          leftOut(example, nameOf(example), { reason: 'family_surplus', detail: `there are enough examples of ${example.family}` }),
        ),
    ],
  }
}

type Repeat = { readonly example: Example; readonly reason: string; readonly detail: string; readonly of: Example }

const withoutRepeats = async (context: Context, examples: readonly Example[]) => {
  const { nearDuplicates } = await import('./nearDuplicates.ts')
  const likenessOf = nearDuplicates()
  const byId = new Map(examples.map((example) => [example.id, example]))
  const exact = new Map<string, Example>()
  const kept: Example[] = []
  const repeated: Repeat[] = []
  for (const example of examples) {
    const text = normalised(example)
    const same = exact.get(text)
    const near = same === undefined ? likenessOf(example.id, text) : null
    const nearest = near === null ? undefined : byId.get(near.id)
    if (same !== undefined) repeated.push({ example, reason: 'duplicate', detail: `it says the same as ${same.id}`, of: same })
    else if (near !== null && nearest !== undefined) {
      const detail = `it is ${Math.round(near.similarity * 100)} % the same as ${near.id}`
      repeated.push({ example, reason: 'near_duplicate', detail, of: nearest })
    } else {
      exact.set(text, example)
      kept.push(example)
    }
    context.progress({ done: kept.length + repeated.length, total: examples.length, unit: 'examples' })
    await setImmediate()
    if (context.signal.aborted) throw new Interrupted()
  }
  return { kept, repeated }
}

/** Without what two ways of writing the same differ in. */
const normalised = ({ question, answer }: Example): string =>
  `${question}\n${answer}`
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()

const refuseMostlyRepeated = (repeated: readonly Repeat[], count: number, nameOf: (example: Example) => string): void => {
  if (count < examplesMin || repeated.length <= count * repeatedMax) return
  const pairs = new Map<string, number>()
  for (const { example, of } of repeated) {
    const pair = nameOf(example) === nameOf(of) ? `${nameOf(of)} repeats itself` : `${nameOf(example)} repeats ${nameOf(of)}`
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  const [worst] = [...pairs].toSorted(([, one], [, other]) => other - one)
  throw new InvalidInputError(
    `${repeated.length} of ${count} examples repeat another, most because ${worst?.[0]}: leave out documents that say the same`,
    { examples: count, repeated: repeated.length },
  )
}

const leftOut = (
  { sourceSpan, family, question, answer, quote, callId }: Example,
  document: string,
  why: Pick<Quarantined, 'reason' | 'detail'>,
): Quarantined => ({ stage: 'dedup_balance', ...why, document, sourceSpan, example: { family, question, answer, quote, callId } })
