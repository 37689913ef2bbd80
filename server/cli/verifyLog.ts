import type { AuditReport, Finding } from '../engine.ts'
import type { Call, Run } from './call.ts'
import { type ExitCode, exitCode } from './exitCode.ts'
import { plainText } from './plainText.ts'
import type { Shell } from './shell.ts'
import { colouredVerdict } from './stateColour.ts'
import { withEngine } from './store.ts'

/** Checks one job. */
export const auditJob: Run = (call) => withEngine(call, async (engine) => told(await engine.audit(call.args[0] ?? ''), call))

/** Checks every job of the log. */
export const verifyLog: Run = (call) =>
  withEngine(call, async (engine) => {
    const { stderr } = call.shell
    const progress = (events: number): void => {
      if (stderr.isTerminal) void stderr.write(`\r\u001b[K${events} events checked`)
    }
    const report = await engine.verifyLog({ progress })
    if (stderr.isTerminal) await stderr.write('\r\u001b[K')
    return told(report, call)
  })

const told = async (report: AuditReport, { json, shell }: Call): Promise<ExitCode> => {
  const text = json ? `${JSON.stringify(report)}\n` : reportText(report, shell)
  await shell.stdout.write(text)
  return report.findings.length === 0 ? exitCode.done : exitCode.broken
}

const reportText = ({ jobs, events, artifacts, findings }: AuditReport, shell: Shell): string => {
  const checked = `${counted(jobs, 'job')}, ${counted(events, 'event')}, ${counted(artifacts, 'artifact')} checked`
  if (findings.length === 0) return `${colouredVerdict('ok', shell)}: ${checked}\n    chain, revisions, rules, limits, ledger and artifacts hold\n`
  const lines = findings.map((finding) => `  ${plainText(findingText(finding))}\n`)
  return `${colouredVerdict('BROKEN', shell)}: ${checked}, ${counted(findings.length, 'finding')}\n${lines.join('')}`
}

const findingText = ({ rule, message, stream, jobId, revision }: Finding): string => {
  const place = stream ?? (jobId === undefined ? '' : `job-${jobId}`)
  const at = revision === undefined ? place : `${place} at revision ${revision}`
  return at === '' ? `${rule}: ${message}` : `${at}: ${rule}: ${message}`
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`
