import { execFileSync, execSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { JobDocument } from '../../domain/job/document.ts'
import { Usd } from '../../domain/money.ts'
import { comparison, type Evidence } from '../../server/cli/demo/comparison.ts'
import { readDataset } from '../../server/cli/demo/demoDataset.ts'
import type { DemoReport } from '../../server/cli/demo/demoReport.ts'
import { price } from '../../server/cli/demo/demoSetting.ts'
import { type ProviderCall, readProviderLog } from '../../server/cli/demo/providerLog.ts'
import type { AuditReport, Ledger } from '../../server/engine.ts'
import { killAll, knovaryn, knovarynJson, startKnovaryn } from '../support/processes.ts'
import { until } from '../support/until.ts'

type CallLogLine = { kind: string; fingerprint: string; billed?: boolean; replayed?: boolean }

const place = mkdtempSync(join(tmpdir(), 'demo-test-'))
const linesOf = <Line>(path: string): Line[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

let report: DemoReport
let store: string
beforeAll(async () => {
  report = await knovarynJson<DemoReport>(['demo', '--dir', join(place, 'alone')])
  store = `sqlite:${report.folder}/store`
}, 120_000)
afterEach(killAll)
afterAll(() => rmSync(place, { recursive: true, force: true }))

test('the demo finishes a dataset whose worker it has killed, in less than 30 seconds', () => {
  expect(report).toMatchObject({ state: 'succeeded', held: 0, comparison: { holds: true } })
  expect(report.settled).toBeGreaterThan(30)
  expect(report.seconds).toBeLessThan(30)
  expect(report.folder).toBe(join(place, 'alone'))
})

test('the demo says of the provider what the provider’s own log says, and no question was billed twice', () => {
  const lines = linesOf<CallLogLine>(join(report.folder, 'provider-calls.jsonl'))
  const billed = lines.filter((line) => line.billed === true).map((line) => line.fingerprint)
  expect(new Set(billed).size).toBe(billed.length)
  expect(billed).toHaveLength(report.providerBilled)
  expect(lines.filter((line) => line.kind === 'received')).toHaveLength(report.providerCalls)
  expect(lines.filter((line) => line.replayed === true)).toHaveLength(report.replayed)
})

test('what the demo says of the ledger is what `job ledger` says', async () => {
  const { lines, totals } = await knovarynJson<Ledger>(['job', 'ledger', report.jobId, '--store', store])
  expect(lines).toHaveLength(report.ledgerLines)
  expect(lines.filter((line) => line.state === 'settled')).toHaveLength(report.settled)
  expect(lines.filter((line) => line.state === 'taken_over')).toHaveLength(report.takenOver)
  expect(totals.spent.costUsd).toBe(report.spentCostUsd)
})

test('the kill was real: the worker is gone, calls were cut off, and a second claim finished the job', async () => {
  expect(() => process.kill(report.killedPid, 0)).toThrow('ESRCH')
  expect(report.takenOver).toBeGreaterThan(0)
  const { items } = await knovarynJson<{ items: { type: string }[] }>(['job', 'events', report.jobId, '--store', store])
  const count = (type: string): number => items.filter((event) => event.type === type).length
  expect(count('LeaseExpired')).toBe(1)
  expect(count('JobLeased')).toBe(2)
  expect(count('ProviderCallOrphaned')).toBe(report.takenOver)
})

test('the dataset of the demo has examples of each of its five formats, and passes sha256sum', async () => {
  const { examples } = await readDataset(report.resultsPath)
  const formats = new Set(examples.map(({ document }) => document.split('.').at(-1)))
  expect(formats).toEqual(new Set(['md', 'txt', 'html', 'pdf', 'docx']))
  expect(execSync('sha256sum --check --strict --quiet SHA256SUMS', { cwd: report.resultsPath, encoding: 'utf8' })).toBe('')
})

/** What the demo has compared, taken anew from what it left. */
const evidenceLeft = async (): Promise<Evidence> => ({
  calls: await readProviderLog(join(report.folder, 'provider-calls.jsonl')),
  ledger: await knovarynJson<Ledger>(['job', 'ledger', report.jobId, '--store', store]),
  job: await knovarynJson<JobDocument>(['job', 'status', report.jobId, '--store', store]),
  audit: await knovarynJson<AuditReport>(['job', 'audit', report.jobId, '--store', store]),
  dataset: await readDataset(report.resultsPath),
  price,
})

const tampered = (calls: readonly ProviderCall[]): readonly ProviderCall[] => {
  const [first, ...others] = calls.filter((call) => call.answer?.billed === true)
  if (first?.answer === undefined || first.answer === null) throw new Error('the demo billed nothing')
  const usage = { prompt_tokens: 1, completion_tokens: 1 }
  return [{ ...first, answer: { ...first.answer, usage } }, ...others]
}

test('the comparison notices what does not agree, and names it', async () => {
  const evidence = await evidenceLeft()
  const { calls, ledger, job, dataset, audit } = evidence
  const broken = (changed: Partial<Evidence>): string[] =>
    comparison({ ...evidence, ...changed })
      .filter((check) => !check.holds)
      .map((check) => check.rule)
  const spent = { ...job, budget: { ...job.budget, spentCostUsd: Usd.parse('1.000000001') } }
  const again = [...calls, ...calls.slice(0, 1)]
  const renamed = calls.map((call, at) => (at === 0 ? { ...call, key: 'another' } : call))

  expect(broken({})).toEqual([])
  expect(broken({ calls: again })).toEqual(['nothing_paid_twice', 'lines_agree', 'costs_agree', 'within_budget'])
  expect(broken({ calls: renamed })).toContain('lines_agree')
  expect(broken({ calls: tampered(calls) })).toEqual(['lines_agree', 'costs_agree'])
  expect(broken({ ledger: { ...ledger, lines: ledger.lines.slice(0, -1) } })).toContain('costs_agree')
  expect(broken({ job: spent })).toEqual(['costs_agree', 'within_budget'])
  const [example, ...others] = dataset.examples
  const altered = { ...dataset, examples: [{ ...example!, quote: `${example!.quote}!` }, ...others] }
  expect(broken({ dataset: altered })).toEqual(['spans_agree'])
  const [file, ...files] = dataset.files
  expect(broken({ dataset: { ...dataset, files: [{ ...file!, found: null }, ...files] } })).toEqual(['sums_agree'])
  expect(broken({ job: { ...job, state: 'failed' } })).toEqual(['spans_agree'])
  const findings = [{ rule: 'chain', message: 'broken' }]
  expect(broken({ audit: { ...audit, findings } })).toEqual(['audit'])
})

test('a demo in which the provider bills a call twice exits 1 and says so', async () => {
  const folder = join(place, 'twice')
  const demo = startKnovaryn(['demo', '--json', '--dir', folder])
  await demo.line(/calls\/s/)
  const log = join(folder, 'provider-calls.jsonl')
  const [received = '', ...later] = readFileSync(log, 'utf8').split('\n')
  const answered = later.find((line) => line.includes('"answered","call":1,')) ?? ''
  const again = [received, answered].map((line) => `${line.replace('"call":1,', '"call":1000000,')}\n`)
  appendFileSync(log, again.join(''))

  expect(await demo.exited).toEqual({ code: 1, signal: null })
  const { comparison: compared } = JSON.parse(demo.stdout()) as DemoReport
  expect(compared.holds).toBe(false)
  expect(compared.checks[0]).toMatchObject({ rule: 'nothing_paid_twice', holds: false })
  expect(demo.stderr()).toMatch(/✗ nothing_paid_twice: request [0-9a-f]{12} was billed more than once/)
})

test('demos beside each other get a folder each, and the commands that they print can be pasted', async () => {
  const args = ['demo', '--dir', join(place, 'alone')]
  const [told, second] = await Promise.all([knovaryn(args), knovarynJson<DemoReport>(args)])
  expect(told).toMatchObject({ code: 0, stderr: '' })
  expect(second.comparison.holds).toBe(true)
  const [, folder = ''] = /folder +(\S+)/.exec(told.stdout) ?? []
  expect(new Set([report.folder, second.folder, folder])).toEqual(
    new Set(['alone', 'alone-2', 'alone-3'].map((name) => join(place, name))),
  )

  const commands = told.stdout.split('\n').filter((line) => line.startsWith('  node '))
  expect(commands).toHaveLength(5)
  const calls = readFileSync(join(folder, 'provider-calls.jsonl'), 'utf8')
  for (const command of commands) expect(execSync(command, { encoding: 'utf8', stdio: 'pipe' })).not.toBe('')
  expect(readFileSync(join(folder, 'provider-calls.jsonl'), 'utf8')).toBe(calls)
}, 180_000)

const endings = ['SIGINT', 'SIGTERM', 'SIGKILL'] as const

test.each(endings)('a demo that is ended by %s leaves no process behind', async (signal) => {
  const folder = join(place, signal)
  const demo = startKnovaryn(['demo', '--dir', folder])
  await demo.line(/calls\/s/)
  expect(processesOf(folder)).not.toEqual([])
  demo.signal(signal)
  expect(await demo.exited).toEqual(signal === 'SIGKILL' ? { code: null, signal } : { code: 130, signal: null })
  await until('the end of its processes', () => processesOf(folder).length === 0)
})

/** Processes that the demo in this folder has started. */
const processesOf = (folder: string): readonly string[] =>
  execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(`${folder}/`))

test('a place that cannot be the demo’s folder, or is a store of its own, is refused before anything starts', async () => {
  const file = join(report.folder, 'prices.json')
  expect(await knovaryn(['demo', '--dir', file])).toMatchObject({ code: 2, stdout: '' })
  expect(await knovaryn(['demo', '--dir', join(file, 'inside')])).toMatchObject({ code: 2, stdout: '' })
  expect(await knovaryn(['demo', '--store', store])).toMatchObject({ code: 2, stdout: '' })
})
