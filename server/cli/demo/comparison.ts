import type { JobDocument } from '../../../domain/job/document.ts'
import { addUsd, nanoUsd, usd, type Usd, zeroUsd } from '../../../domain/money.ts'
import { costOf, type ModelPrice } from '../../../domain/pricing.ts'
import type { AuditReport, Ledger } from '../../engine.ts'
import { dollarsText } from '../dollarsText.ts'
import type { DemoDataset } from './demoDataset.ts'
import type { ProviderCall } from './providerLog.ts'

/** What the demo has in its hands when the job is done. The provider's log knows nothing of the ledger. */
export type Evidence = {
  readonly calls: readonly ProviderCall[]
  readonly ledger: Ledger
  readonly job: JobDocument
  readonly dataset: DemoDataset
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
  spansAgree(evidence),
  sumsAgree(evidence),
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
const nothingPaidTwice = ({ calls, ledger }: Evidence): Check => {
  const billed = calls.filter(isBilled)
  const bodies = grouped(billed, ({ body }) => body)
  const twice = [...bodies].filter(([, same]) => same.length > 1).map(([body]) => `request ${body.slice(0, 12)}`)
  const settled = ledger.lines.filter(({ state }) => state === 'settled').length
  const count = bodies.size === settled ? [] : [`${bodies.size} questions were billed, ${settled} are in the ledger`]
  return check(
    'nothing_paid_twice',
    `no question was paid twice: ${bodies.size} questions, ${billed.length} billed answers`,
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

const costsAgree = ({ calls, ledger, job, price }: Evidence): Check => {
  const settled = new Set(ledger.lines.filter(({ state }) => state === 'settled').map(keyOf))
  const sums: readonly (readonly [name: string, sum: Usd])[] = [
    ['the provider’s bill', billOf(calls.filter(({ key }) => key !== null && settled.has(key)), price)],
    ['the ledger’s lines', sumOf(ledger.lines.map(({ costUsd }) => costUsd))],
    ['the ledger’s total', ledger.totals.spent.costUsd],
    ['the job', job.budget.spentCostUsd],
  ]
  const spent = job.budget.spentCostUsd
  return check(
    'costs_agree',
    `bill, ledger and job have the same sum: ${dollarsText(spent)}`,
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

const spansAgree = ({ dataset: { examples, sources }, job }: Evidence): Check => {
  const wrong = examples.filter(({ sourceSpan: { text, start, end }, quote }) => sources.get(text)?.slice(start, end) !== quote)
  return check('spans_agree', `each of the ${examples.length} examples quotes its source, letter for letter`, [
    ...(job.state === 'succeeded' ? [] : [`the job is ${job.state}`]),
    ...(examples.length > 0 ? [] : ['there is no example']),
    ...wrong.map(({ id }) => `example ${id} quotes what its source does not say`),
  ])
}

const sumsAgree = ({ dataset: { files } }: Evidence): Check =>
  check(
    'sums_agree',
    `the ${files.length} files of the dataset are those of SHA256SUMS`,
    files.filter(({ sha256, found }) => found !== sha256).map(({ path, found }) => `${path} is ${found ?? 'not there'}`),
  )

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
