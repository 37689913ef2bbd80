import type { JobDocument } from '../../../domain/job/document.ts'
import { nanoUsd, type Usd } from '../../../domain/money.ts'
import { dollarsText } from '../dollarsText.ts'
import { type Part, partsBar } from './bar.ts'
import { countText } from './countText.ts'
import { joined, type Line, span } from './line.ts'

/** An amount that moves, to the hundredth of a cent: always as wide, so that nothing jumps about. */
const roundedText = (nano: bigint): string => {
  const hundredths = ((nano + 50_000n) / 100_000n).toString().padStart(5, '0')
  if (nano > 0n && nano < 50_000n) return '<$0.0001'
  return dollarsText(`${hundredths.slice(0, -4)}.${hundredths.slice(-4)}`)
}

type Kind = { readonly name: string; readonly nano: bigint } & Omit<Part, 'amount'>

const kindsOf = ({ spentCostUsd, heldCostUsd, reservedCostUsd }: JobDocument['budget']): readonly Kind[] => [
  { name: 'spent', nano: nanoUsd(spentCostUsd), glyph: '■', style: 'green' },
  { name: 'held', nano: nanoUsd(heldCostUsd), glyph: '▣', style: 'yellow' },
  { name: 'reserved', nano: nanoUsd(reservedCostUsd), glyph: '▤', style: 'cyan' },
]

/** A bar of the budget and what its parts are; without a limit only the amounts. */
export const budgetLines = ({ budget }: JobDocument, width: number): readonly Line[] => {
  const limit = budget.maximumCostUsd
  const kinds = kindsOf(budget)
  const shown = kinds.filter(({ name, nano }) => nano > 0n || name !== 'held')
  const legend = shown.map(({ name, nano, glyph, style }): Line => [span(`${glyph} `, style), span(`${roundedText(nano)} ${name}`)])
  if (limit === null) return [joined([...legend, [span('no limit', 'dim')]], width, '  ')]
  const whole = nanoUsd(limit)
  const gone = kinds.reduce((sum, { nano }) => sum + nano, 0n)
  const left: Line = [span('─ ', 'dim'), span(`${roundedText(whole > gone ? whole - gone : 0n)} left`)]
  const of = ` of ${dollarsText(limit)}`
  const parts = kinds.map((kind): Part => ({ ...kind, amount: Number(kind.nano) }))
  const columns = Math.max(4, Math.min(36, width - of.length))
  return [
    [...partsBar(parts, Number(whole), columns), span(of)],
    joined(width < 60 ? [...legend.slice(0, 1), left, ...legend.slice(1)] : [...legend, left], width, '  '),
  ]
}

const ofMaximum = (count: number, maximum: number | null): string =>
  maximum === null ? countText(count) : `${countText(count)} of ${countText(maximum)}`

export const callsLine = ({ budget }: JobDocument, width: number): Line =>
  joined(
    [
      [span(ofMaximum(budget.callsMade, budget.maximumCalls))],
      [span(`${ofMaximum(budget.inputTokens, budget.maximumInputTokens)} tokens in`)],
      [span(`${ofMaximum(budget.outputTokens, budget.maximumOutputTokens)} out`)],
      budget.examplesProduced === 0 ? [] : [span(`${ofMaximum(budget.examplesProduced, budget.maximumExamples)} examples`)],
    ],
    width,
  )

/** What was spent against the most that the whole job may cost, where that was estimated. */
export const estimateLine = ({ estimatedCostUsd, budget }: JobDocument, width: number): Line => {
  if (estimatedCostUsd === null) return []
  const share = shareText(budget.spentCostUsd, estimatedCostUsd)
  return joined([[span(`${dollarsText(estimatedCostUsd)} at worst`)], share === null ? [] : [span(`${share} of it spent`)]], width)
}

const shareText = (part: Usd, whole: Usd): string | null => {
  if (nanoUsd(whole) === 0n) return null
  const percent = (nanoUsd(part) * 100n) / nanoUsd(whole)
  return percent === 0n && nanoUsd(part) > 0n ? 'under 1%' : `${percent}%`
}
