import type { JobDocument } from '../../../domain/job/document.ts'
import type { Usd } from '../../../domain/money.ts'
import type { Ledger } from '../../engine.ts'
import { dollarsText } from '../dollarsText.ts'
import { plainText } from '../plainText.ts'
import { textTable } from '../textTable.ts'
import { fitting } from '../textWidth.ts'
import { furtherCommands } from './demoCommands.ts'
import type { DemoExample } from './demoDataset.ts'
import type { DemoFolder } from './demoFolder.ts'
import type { DemoReport } from './demoReport.ts'
import { callsAtOnce, leaseSeconds } from './demoSetting.ts'

export const openingText = (opening: {
  readonly folder: DemoFolder
  /** Its process. */
  readonly provider: number
  readonly baseUrl: string
  readonly job: JobDocument
}): string => {
  const { folder, provider, baseUrl, job } = opening
  return [
    'Training data from the documents of a small harbour, in five formats. The worker is killed amid its calls, and',
    'nothing is paid twice.',
    '',
    `  folder    ${folder.path}`,
    `  provider  offline, in a process of its own (${provider}) at ${baseUrl}`,
    `  job       ${job.jobId}, ${callsAtOnce} calls at a time`,
    `  stages    ${job.stages.join(' · ')}`,
    `  budget    ${limitText(job.budget.maximumCostUsd)}`,
    '',
    '',
  ].join('\n')
}

const limitText = (limit: Usd | null): string => (limit === null ? 'none' : dollarsText(limit))

export const startText = (pid: number): string => `Worker ${pid} starts.\n`

/** What the log says while nobody works. */
export const killedText = (pid: number, { lines, totals }: Ledger): string => {
  const open = lines.filter(({ state }) => state === 'reserved').length
  const unknown =
    open === 0
      ? 'No call was open.'
      : `${open} more ${open === 1 ? 'call was' : 'calls were'} sent or about to be: nobody here knows whether\n` +
        `  that will be billed, so its worst case, ${dollarsText(totals.reserved.costUsd)}, stays set aside.`
  return (
    `\nHalf of the questions are answered. Worker ${pid} is killed (SIGKILL): it could not finish or save anything.\n` +
    `  The log holds ${counted(totals.spent.calls, 'paid call')}, ${dollarsText(totals.spent.costUsd)}.\n  ${unknown}\n\n`
  )
}

export const takeoverText = (seconds: number): string => {
  const how = seconds < leaseSeconds ? 'ended with its process' : 'has run out'
  return `  It has the job ${seconds.toFixed(1)} s after the kill: the old lease ${how}.\n`
}

/** What the report shows beside its own figures. */
type Shown = {
  readonly examples: readonly DemoExample[]
  readonly folder: DemoFolder
  readonly columns: number
  readonly program: string
}

export const reportText = (report: DemoReport, { examples, folder, columns, program }: Shown): string =>
  [
    `\nThe job has ${report.state}, ${report.seconds.toFixed(1)} s after the demo began.\n`,
    `\nThe provider's own call log beside the ledger:\n\n${indented(sidesText(report))}\n`,
    ...report.comparison.checks.map(({ holds, found }) => `  ${holds ? '✓' : '✗'} ${plainText(found)}\n`),
    `\n${cutText(report)}`,
    `\nThe dataset: ${report.resultsPath}\n${countsText(report)}`,
    ...examples.slice(0, examplesShown).map((example) => exampleText(example, columns)),
    '\nLook further:\n',
    ...furtherCommands(report.jobId, folder, program).map(([command, about]) => `  # ${about}\n  ${command}\n`),
    report.comparison.holds ? '' : '\nNot everything holds: see ✗ above.\n',
  ].join('')

const examplesShown = 2

/** What the job says of its own dataset: numbers alone, whatever they count. */
const countsText = ({ output }: DemoReport): string => {
  const counts = Object.entries(output ?? {}).filter(([, value]) => typeof value === 'number')
  return counts.length === 0 ? '' : `  ${counts.map(([name, value]) => `${name} ${value}`).join(' · ')}\n`
}

const exampleText = ({ document, messages: [question, answer], sourceSpan }: DemoExample, columns: number): string => {
  const page = sourceSpan.page === undefined ? '' : `, page ${sourceSpan.page}`
  const lines = [`Q  ${question.content}`, `A  ${answer.content}`, `   ${document}${page}, ${sourceSpan.start} to ${sourceSpan.end}`]
  return `\n${lines.map((line) => `  ${shortened(plainText(line), columns - 2)}\n`).join('')}`
}

const sidesText = (report: DemoReport): string => {
  const { ledgerLines, settled, takenOver, held, providerCalls, providerBilled, replayed } = report
  const rows: readonly (readonly [what: string, provider: string, ledger: string])[] = [
    ['calls', `${providerCalls} received`, `${ledgerLines} lines`],
    ['paid', `${providerBilled} billed`, `${settled} settled`],
    ['not paid again', `${replayed} replayed`, `${takenOver} taken over`],
    ['unknown', '', `${held} held`],
    ['cost', dollarsText(report.billedCostUsd), dollarsText(report.spentCostUsd)],
  ]
  return textTable(
    [
      { heading: '', text: ([what]) => what },
      { heading: 'PROVIDER', align: 'right', text: ([, provider]) => provider },
      { heading: 'LEDGER', align: 'right', text: ([, , ledger]) => ledger },
    ],
    rows,
  )
}

/** What became of the calls that the kill cut off. */
const cutText = ({ takenOver, replayed }: DemoReport): string => {
  if (takenOver === 0) return '  The kill hit no open call this time.\n'
  const unsent = takenOver - replayed
  const billed = unsent === 0 ? (takenOver === 1 ? 'It' : 'All of them') : `${replayed} of them`
  return (
    `  The kill cut off ${counted(takenOver, 'call')}. ${billed} had been billed, with nobody left to\n` +
    '  hear the answer: asked again under the same Idempotency-Key, the provider\n' +
    '  sent its stored answer and billed nothing.\n' +
    (unsent === 0 ? '' : `  The other ${unsent === 1 ? 'one' : unsent} had not reached it yet.\n`) +
    '  (A provider that stores no answers is asked anew, within the budget; the\n' +
    '  ledger then shows the cut calls as held until you have looked at its bill.)\n'
  )
}

const indented = (text: string): string => text.replace(/^(?=.)/gm, '  ')

const shortened = (text: string, columns: number): string => {
  const fits = fitting(text, columns)
  return fits === text ? text : `${fitting(text, columns - 1)}…`
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
