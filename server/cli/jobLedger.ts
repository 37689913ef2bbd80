import type { Ledger } from '../engine.ts'
import type { Run } from './call.ts'
import { dollarsText } from './dollarsText.ts'
import { exitCode } from './exitCode.ts'
import { options } from './options.ts'
import { tableWidth } from './shell.ts'
import { withEngine } from './store.ts'
import { type Column, textTable } from './textTable.ts'

type Line = Ledger['lines'][number]

/** Every send of a job, what became of it and what it cost, and the sums. */
export const jobLedger: Run = (call) =>
  withEngine(call, async (engine) => {
    const { stdout } = call.shell
    const ledger = await engine.ledger(call.args[0] ?? '')
    if (call.given(options.jsonl) ?? false) {
      for (const line of ledger.lines) if (!(await stdout.write(`${JSON.stringify(line)}\n`))) break
    } else if (call.json) {
      await stdout.write(`${JSON.stringify(ledger)}\n`)
    } else {
      const table = ledger.lines.length === 0 ? 'no calls yet\n' : textTable(columns, ledger.lines, tableWidth(stdout))
      await stdout.write(`${table}\n${totalsText(ledger)}`)
    }
    return exitCode.done
  })

const columns: readonly Column<Line>[] = [
  { heading: 'CALL', align: 'right', text: (line) => String(line.call) },
  { heading: 'STAGE', spare: 1, text: (line) => line.stage },
  { heading: 'KEY', text: (line) => line.key },
  { heading: 'MODEL', spare: 2, text: (line) => `${line.provider}/${line.model}` },
  { heading: 'STATE', text: (line) => line.state },
  { heading: 'IN', align: 'right', text: (line) => String(line.inputTokens ?? '') },
  { heading: 'OUT', align: 'right', text: (line) => String(line.outputTokens ?? '') },
  { heading: 'COST', align: 'right', text: (line) => (line.costUsd === null ? '' : dollarsText(line.costUsd)) },
  { heading: 'AT WORST', align: 'right', spare: 3, text: (line) => dollarsText(line.worstCaseUsd) },
  { heading: 'NOTE', text: noteOf },
]

function noteOf(line: Line): string {
  return [
    line.overrun ? 'billed above its worst case' : '',
    line.usageInvalid ? 'usage that cannot be: charged at its worst' : '',
    line.late ? 'answered late' : '',
    line.takenOverBy === null ? '' : `taken over by call ${line.takenOverBy}`,
    line.errorCode ?? '',
    line.note ?? '',
  ]
    .filter((part) => part !== '')
    .join('; ')
}

const totalsText = ({ totals }: Ledger): string => {
  const sums = [
    ['settled', totals.spent],
    ['held', totals.held],
    ['reserved', totals.reserved],
  ] as const
  return textTable(
    [
      { heading: '', text: ([name]) => name },
      { heading: 'CALLS', align: 'right', text: ([, sum]) => String(sum.calls) },
      { heading: 'TOKENS IN', align: 'right', text: ([, sum]) => String(sum.inputTokens) },
      { heading: 'TOKENS OUT', align: 'right', text: ([, sum]) => String(sum.outputTokens) },
      { heading: 'COST', align: 'right', text: ([, sum]) => dollarsText(sum.costUsd) },
    ],
    sums,
  )
}
