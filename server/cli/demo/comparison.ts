import type { JobDocument } from '../../../domain/job/document.ts'
import { addUsd, nanoUsd, usd, type Usd, zeroUsd } from '../../../domain/money.ts'
import { costOf, type ModelPrice } from '../../../domain/pricing.ts'
import type { AuditReport, Ledger } from '../../engine.ts'
import { dollarsText } from '../dollarsText.ts'
import type { DemoPrompt } from './demoPrompts.ts'
import type { DemoResult } from './demoResults.ts'
import type { ProviderCall } from './providerLog.ts'

/** What the demo has in its hands when the job is done. The provider's log knows nothing of the ledger. */
export type Evidence = {
  readonly prompts: readonly DemoPrompt[]
  readonly calls: readonly ProviderCall[]
  readonly ledger: Ledger
  readonly job: JobDocument
  readonly results: readonly DemoResult[]
  readonly audit: AuditReport
  readonly price: ModelPrice
}

export type Check = {
  readonly rule: string
  readonly holds: boolean
  /** What was found, as a sentence. */
  readonly found: string
}

type Line = Ledger['lines'][number]

/** Every statement of the demo about money, each checked against both sides. */
export const comparison = (evidence: Evidence): readonly Check[] => [
  nothingPaidTwice(evidence),
  linesAgree(evidence),
  costsAgree(evidence),
  withinBudget(evidence),
  allAnswered(evidence),
  audited(evidence),
]

export const isBilled = ({ answer }: ProviderCall): boolean => answer?.billed === true

/** What the provider charges for the calls, in US dollars, by its own count of tokens. */
export const billOf = (calls: readonly ProviderCall[], price: ModelPrice): Usd =>
  usd(
    calls.filter(isBilled).reduce((sum, { answer }) => {
      const { prompt_tokens: inputTokens = 0, completion_tokens: outputTokens = 0 } = answer?.usage ?? {}
      return sum + costOf({ inputTokens, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens }, price)
    }, 0n),
  )

/** By the provider's log alone: a question is known by the hash of its body, whatever key it came with. */
const nothingPaidTwice = ({ calls, prompts }: Evidence): Check => {
  const billed = calls.filter(isBilled)
  const bodies = grouped(billed, ({ body }) => body)
  const twice = [...bodies].filter(([, same]) => same.length > 1).map(([body]) => `request ${body.slice(0, 12)}`)
  const count = bodies.size === prompts.length ? [] : [`${bodies.size} of ${prompts.length} questions were billed`]
  return check(
    'nothing_paid_twice',
    `no prompt was paid twice: ${prompts.length} prompts, ${billed.length} billed answers`,
    [...twice.map((body) => `${body} was billed more than once`), ...count],
  )
}

const linesAgree = ({ calls, ledger }: Evidence): Check => {
  const billedByKey = grouped(calls.filter(isBilled), ({ key }) => key ?? '')
  const settled = ledger.lines.filter(({ state }) => state === 'settled')
  const held = ledger.lines.filter(({ state }) => state === 'held')
  const known = new Set([...settled, ...held].map(keyOf))
  const wrong = settled.flatMap((line) => {
    const [billed, ...more] = billedByKey.get(line.callKey) ?? []
    if (billed === undefined) return [`call ${line.call} was never billed`]
    if (more.length > 0) return [`call ${line.call} was billed ${more.length + 1} times`]
    const usage = billed.answer?.usage
    const isSame = usage?.prompt_tokens === line.inputTokens && usage?.completion_tokens === line.outputTokens
    return isSame ? [] : [`call ${line.call} has other tokens than the provider counted`]
  })
  const unknown = [...billedByKey.keys()].filter((key) => !known.has(key)).map((key) => `no line for billed key ${key}`)
  return check(
    'lines_agree',
    `each of the ${settled.length} settled lines has one billed answer of the same tokens`,
    [...wrong, ...unknown],
  )
}

const keyOf = ({ callKey }: Line): string => callKey

const costsAgree = ({ calls, ledger, job, results, price }: Evidence): Check => {
  const settled = new Set(ledger.lines.filter(({ state }) => state === 'settled').map(keyOf))
  const sums: readonly (readonly [name: string, sum: Usd])[] = [
    ['the provider’s bill', billOf(calls.filter(({ key }) => key !== null && settled.has(key)), price)],
    ['the ledger’s lines', sumOf(ledger.lines.map(({ costUsd }) => costUsd))],
    ['the ledger’s total', ledger.totals.spent.costUsd],
    ['the job', job.budget.spentCostUsd],
    ['the results', sumOf(results.map(({ costUsd }) => costUsd))],
  ]
  const spent = job.budget.spentCostUsd
  return check(
    'costs_agree',
    `bill, ledger, job and results have the same sum: ${dollarsText(spent)}`,
    sums
      .filter(([, sum]) => sum !== spent)
      .map(([name, sum]) => `${name}: ${dollarsText(sum)} for ${dollarsText(spent)}`),
  )
}

const withinBudget = ({ calls, job, price }: Evidence): Check => {
  const { spentCostUsd, heldCostUsd, reservedCostUsd, maximumCostUsd } = job.budget
  const bill = billOf(calls, price)
  const known = addUsd(spentCostUsd, heldCostUsd)
  const limit = maximumCostUsd ?? zeroUsd
  return check('within_budget', `all that was billed is settled or held, within the budget of ${dollarsText(limit)}`, [
    ...(nanoUsd(bill) <= nanoUsd(known) ? [] : [`${dollarsText(bill)} was billed, ${dollarsText(known)} is known`]),
    ...(nanoUsd(known) <= nanoUsd(limit) ? [] : [`${dollarsText(known)} is above ${dollarsText(limit)}`]),
    ...(reservedCostUsd === '0' ? [] : [`${dollarsText(reservedCostUsd)} is still reserved`]),
  ])
}

const allAnswered = ({ prompts, results, job }: Evidence): Check => {
  const answered = new Map(results.map((result) => [result.id, result]))
  const missing = prompts.filter(({ id }) => answered.get(id)?.text === undefined)
  return check('all_answered', 'every prompt has its answer, once', [
    ...(job.state === 'succeeded' ? [] : [`the job is ${job.state}`]),
    ...(results.length === prompts.length ? [] : [`${results.length} results for ${prompts.length} prompts`]),
    ...missing.map(({ id }) => `${id} has no answer`),
  ])
}

const audited = ({ audit }: Evidence): Check =>
  check(
    'audit',
    `the job's ${audit.events} events pass the audit: chain, rules, limits, ledger, files`,
    audit.findings.map(({ rule, message }) => `${rule}: ${message}`),
  )

const shownMax = 3

const check = (rule: string, holding: string, broken: readonly string[]): Check => {
  if (broken.length === 0) return { rule, holds: true, found: holding }
  const more = broken.length > shownMax ? `; and ${broken.length - shownMax} more` : ''
  return { rule, holds: false, found: `${rule}: ${broken.slice(0, shownMax).join('; ')}${more}` }
}

const grouped = <Item>(
  items: readonly Item[],
  groupOf: (item: Item) => string,
): ReadonlyMap<string, readonly Item[]> => {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const group = groups.get(groupOf(item)) ?? []
    groups.set(groupOf(item), [...group, item])
  }
  return groups
}

const sumOf = (amounts: readonly (Usd | null | undefined)[]): Usd =>
  amounts.reduce<Usd>((sum, amount) => addUsd(sum, amount ?? zeroUsd), zeroUsd)
