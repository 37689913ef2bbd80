import { setImmediate } from 'node:timers/promises'
import { InvalidInputError } from '../../../domain/errors.ts'
import { Interrupted, type StageContext } from '../../defineJob.ts'
import { familySurplus, shareMax } from './balancedFamilies.ts'
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
  const { balanced, surplus } = await withoutSurplus(kept, datasetParameters(context.parameters).seed)
  return { examples: balanced, quarantined: [...repeated, ...surplus].map((out) => leftOut(out, nameOf(out.example))) }
}

type Out = { readonly example: Example; readonly reason: string; readonly detail: string }
type Repeat = Out & { readonly of: Example }

const withoutRepeats = async (context: Context, examples: readonly Example[]) => {
  const { nearDuplicates } = await import('./nearDuplicates.ts')
  const nearestTo = nearDuplicates<Example>()
  const exact = new Map<string, Example>()
  const kept: Example[] = []
  const repeated: Repeat[] = []
  for (const example of examples) {
    const said = { question: plainText(example.question), answer: plainText(example.answer) }
    const text = `${said.question}\n${said.answer}`
    const same = exact.get(text)
    const near = same === undefined ? nearestTo(example, said) : null
    if (same !== undefined) {
      repeated.push({ example, reason: 'duplicate', detail: `it says the same as ${same.id}`, of: same })
    } else if (near !== null) {
      const detail = `it is ${Math.floor(near.similarity * 100)} % the same as ${near.example.id}`
      repeated.push({ example, reason: 'near_duplicate', detail, of: near.example })
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

const withoutSurplus = async (examples: readonly Example[], seed: number) => {
  const over = await familySurplus(examples, seed)
  const balanced: Example[] = []
  const surplus: Out[] = []
  for (const example of examples) {
    const detail = `examples of ${example.family} are more than ${shareMax} times as many as if each family had the same`
    if (over.has(example.id)) surplus.push({ example, reason: 'family_surplus', detail })
    else balanced.push(example)
    await setImmediate()
  }
  return { balanced, surplus }
}

/** Without what two ways of writing the same differ in. Signs stay: they tell `C++` from `C`, and `<` from `>`. */
const plainText = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/\p{Cf}+/gu, '')
    .replace(/[\p{P}\p{Z}\p{C}\p{Sk}]+/gu, ' ')
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

const leftOut = ({ example, reason, detail }: Out, document: string): Quarantined => {
  const { sourceSpan, family, question, answer, quote, callId } = example
  return { stage: 'dedup_balance', reason, detail, document, sourceSpan, example: { family, question, answer, quote, callId } }
}
