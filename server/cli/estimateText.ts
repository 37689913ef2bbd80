import type { Estimate, Foreseen, OverLimit } from '../engine.ts'
import { dollarsText } from './dollarsText.ts'
import { durationText } from './durationText.ts'
import { limitFlag } from './limitFlag.ts'
import { plainText } from './plainText.ts'
import { type Column, textTable } from './textTable.ts'

type Row = Foreseen & { readonly stage: string }

/** An estimate as people read it: a line a stage, the sums, and what is worth knowing about them. */
export const estimateText = (estimate: Estimate, widthMax: number): string => {
  const rows = [...estimate.stages, { stage: 'total', ...estimate.total }]
  const notes = [...limitNotes(estimate), ...meaningNotes(estimate)].map((note) => `  ${note}\n`)
  return `${textTable(columns, rows, widthMax)}\n${notes.join('')}`
}

/** `about 120 calls, $0.42 expected, $1.10 at worst, about 2 min`; null for a job that asks nobody. */
export const estimateLine = (estimate: Estimate): string | null => {
  const { total, basis, provider, type } = estimate
  if (provider === null) return null
  if (!estimate.foreseen) return `job type ${type} does not tell its calls beforehand: only the limits hold it`
  const { expected, worst } = total.costUsd
  return [
    `about ${counted(total.calls, 'call')}`,
    ...(expected === null ? [] : [`${dollarsText(expected)} ${basis === 'guess' ? 'guessed' : 'expected'}`]),
    ...(worst === null ? [] : [`${dollarsText(worst)} at worst`]),
    ...(expected === null && estimate.unpriced.length > 0 ? ['without a price'] : []),
    total.seconds.expected < 1 ? 'under 1 s' : `about ${durationText(total.seconds.expected)}`,
  ].join(', ')
}

/** What does not fit, and what may not. */
const limitNotes = ({ exceeds, mayExceed }: Estimate): readonly string[] => [
  ...exceeds.map((each) => `It cannot fit: ${overText(each)}: raise it.`),
  ...mayExceed.map(mayText),
]

export const mayText = (over: OverLimit): string => `It may pause: up to ${overText(over)}.`

/** `120 calls, --max-calls is 100` */
export const overText = ({ limit, value, maximum }: OverLimit): string =>
  `${amountText({ limit, value })}, ${limitFlag[limit]} is ${typeof maximum === 'string' ? dollarsText(maximum) : maximum}`

const units: Readonly<Record<OverLimit['limit'], string>> = {
  maximumCostUsd: '',
  maximumCalls: 'call',
  maximumInputTokens: 'token',
  maximumOutputTokens: 'token',
  maximumDurationSeconds: 'second',
  maximumExamples: 'example',
}

const amountText = ({ limit, value }: Pick<OverLimit, 'limit' | 'value'>): string =>
  typeof value === 'string' ? dollarsText(value) : counted(value, units[limit])

const counted = (count: number, unit: string): string => `${count} ${unit}${count === 1 ? '' : 's'}`

const column = (heading: string, text: (row: Row) => string | number | null, spare?: number): Column<Row> => ({
  heading,
  align: 'right',
  ...(spare === undefined ? {} : { spare }),
  text: (row) => (row.calls === 0 ? '' : String(text(row) ?? '')),
})

const dollars = (usd: string | null): string => (usd === null ? '' : dollarsText(usd))

const columns: readonly Column<Row>[] = [
  { heading: 'STAGE', text: ({ stage }) => stage },
  column('CALLS', ({ calls }) => calls),
  column('EXAMPLES', ({ examples }) => (examples === 0 ? '' : examples), 4),
  column('IN', ({ inputTokens }) => inputTokens.expected, 5),
  column('AT WORST', ({ inputTokens }) => inputTokens.worst, 1),
  column('OUT', ({ outputTokens }) => outputTokens.expected, 5),
  column('AT WORST', ({ outputTokens }) => outputTokens.worst, 1),
  column('COST', ({ costUsd }) => dollars(costUsd.expected)),
  column('AT WORST', ({ costUsd }) => dollars(costUsd.worst)),
  column('TIME', ({ seconds }) => durationText(seconds.expected), 6),
  column('AT WORST', ({ seconds }) => durationText(seconds.worst), 2),
]

const basisNotes: Readonly<Record<Estimate['basis'], string>> = {
  definition: 'Expected: answers as long as the job type says.',
  history: 'Expected: answers as long as the mean of earlier ones of this model here.',
  guess: 'Expected is a guess: answers half as long as they may be.',
}

const meaningNotes = (estimate: Estimate): readonly string[] => {
  const line = estimateLine(estimate)
  if (estimate.total.calls === 0) return line === null || !estimate.foreseen ? [line ?? 'It asks no provider.'] : []
  return [
    basisNotes[estimate.basis],
    'At worst: each call sent once, and every answer as long as it may be.',
    `A call whose answer is lost may be billed again, up to ${counted(estimate.callAttempts, 'time')} in all.`,
    ...estimate.unpriced.map((model) => `${plainText(model)} has no price: its calls are not in the cost.`),
  ]
}
