import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { offline, promptLines } from '../support/cliInProcess.ts'
import { killAll, knovaryn, knovarynJson, startKnovaryn } from '../support/processes.ts'
import { until } from '../support/until.ts'

/** What only a real process shows: pipes that close, devices that are full, signals, and what is left on disk. */

const dist = process.env['KNOVARYN_TEST_DIST'] ?? fileURLToPath(new URL('../../dist', import.meta.url))

/** A shell line in which `knovaryn` is the program; `status` is that of the program, whatever it was piped into. */
const shellLine = (line: string, cwd: string): Promise<{ status: number; stdout: string; stderr: string }> => {
  const script = `knovaryn() { '${process.execPath}' '${dist}/server/main.js' "$@"; }\n${line}\nexit "\${PIPESTATUS[0]}"`
  return new Promise((resolve) => {
    execFile('bash', ['-c', script], { cwd, timeout: 15_000 }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code ?? -1), stdout, stderr })
    })
  })
}

let folder: string
let job: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'knovaryn-cli-process-'))
  // More events than a pipe holds.
  writeFileSync(join(folder, 'p.jsonl'), promptLines(400))
  writeFileSync(join(folder, 'slow.json'), JSON.stringify({ providers: { offline: { latencyMs: 30_000 } } }))
  const { jobId } = await knovarynJson<{ jobId: string }>(['run', 'p.jsonl', ...offline, '--concurrency', '16'], { cwd: folder })
  job = jobId
}, 60_000)
afterEach(killAll)
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('O-29: in a pipe', () => {
  test.each([
    ['job events $JOB | head -1', / {5}0 {2}\S+ {2}JobSubmitted/],
    ['job events $JOB --json | head -c 10', /^{"items":\[$/],
    ['job events $JOB --jsonl | head -1', /"revision":0/],
    ['job ledger $JOB | head -1', /^CALL/],
    ['job list --json | head -c 10', /^{"items":\[$/],
    ['job status $JOB | head -1', /^Job /],
    ['job watch $JOB --jsonl | head -c 10', /^{"jobId":"$/],
    ['job watch $JOB | true', /^$/],
    ['run --help | head -1', /^Usage: knovaryn run/],
    ['job status nothing --json | true', /^$/],
  ])('%s ends in silence once its reader is gone', async (line, expected) => {
    const { status, stdout, stderr } = await shellLine(`knovaryn ${line.replace('$JOB', job)}`, folder)
    expect({ status, stderr }).toEqual({ status: line.includes('nothing') ? 2 : 0, stderr: '' })
    expect(stdout.trimEnd()).toMatch(expected)
  })

  test('a run whose reader is gone still does its work', async () => {
    writeFileSync(join(folder, 'q.jsonl'), promptLines(3))
    const { status } = await shellLine(`knovaryn run q.jsonl ${offline.join(' ')} 2>&1 | true`, folder)
    expect(status).toBe(0)
    const { items } = await knovarynJson<{ items: { state: string }[] }>(['job', 'list'], { cwd: folder })
    expect(items.map((each) => each.state)).toEqual(['succeeded', 'succeeded'])
  })

  test.each(['job events $JOB', 'job events $JOB --json', 'job list --json', 'job ledger $JOB', 'job status $JOB', '--help'])(
    '%s on a full device says so in one line and exits 5',
    async (line) => {
      const { status, stdout, stderr } = await shellLine(`knovaryn ${line.replace('$JOB', job)} > /dev/full`, folder)
      expect({ status, stdout }).toEqual({ status: 5, stdout: '' })
      expect(stderr).toBe('knovaryn: standard output cannot be written (ENOSPC)\n')
    },
  )

  test('shows no colour, no moving cursor and no spinner', async () => {
    writeFileSync(join(folder, 'r.jsonl'), promptLines(5))
    const line = `knovaryn run r.jsonl ${offline.join(' ')} 2>&1 | cat; knovaryn job list | cat; knovaryn doctor 2>&1 | cat`
    const { stdout } = await shellLine(line, folder)
    expect(stdout).toContain('succeeded')
    expect(stdout).not.toMatch(/[\u001b\r\b]/)
  })
})

describe('a signal', () => {
  const slow = ['--config', 'slow.json'] as const

  test('once drains, and a second time ends at once', async () => {
    writeFileSync(join(folder, 's.jsonl'), promptLines(2))
    const running = startKnovaryn(['run', 's.jsonl', ...offline, ...slow, '--json'], { cwd: folder })
    await until('an open call', async () => {
      const { items } = await knovarynJson<{ items: { reservedCostUsd: string }[] }>(['job', 'list', '--limit', '1'], { cwd: folder })
      return items[0]?.reservedCostUsd !== '0'
    })
    const before = performance.now()
    running.signal('SIGINT')
    await running.line(/Stopping/)
    const pressAgain = (): boolean => {
      running.signal('SIGINT')
      return false
    }
    await until('the end of the process', () => running.hasExited() || pressAgain(), { everyMs: 50 })
    expect(await running.exited).toEqual({ code: 130, signal: null })
    // One key press may arrive twice, by way of npm: within a third of a second it counts as one.
    expect(performance.now() - before).toBeGreaterThan(300)
    // The call that is open would take half a minute.
    expect(performance.now() - before).toBeLessThan(15_000)
  })

  test('makes a worker without a job leave with 0', async () => {
    const running = startKnovaryn(['worker', '--store', 'sqlite:empty'], { cwd: folder })
    await running.line(/working jobs of sqlite:empty/)
    running.signal('SIGTERM')
    expect(await running.exited).toEqual({ code: 0, signal: null })
    expect(running.stderr()).toMatch(/^\S+Z info {2}working jobs of sqlite:empty\n\S+Z info {2}draining: .*\n\S+Z info {2}drained\n$/)
    expect(running.stdout()).toBe('')
  })
})

describe('a store that cannot be one', () => {
  test.each([
    ['is a file', 'sqlite:p.jsonl', 2, /p\.jsonl is a file/],
    ['lies inside of a file', 'sqlite:p.jsonl/store', 2, /p\.jsonl\/store lies inside of a file/],
    ['is of an unknown kind', 'postgres:x', 2, /"postgres:x" is neither sqlite:DIR nor memory:/],
    ['cannot be made', 'sqlite:/sys/knovaryn', 5, /\/sys\/knovaryn cannot be used/],
  ])('%s', async (_, store, code, message) => {
    const run = await knovaryn(['run', 'p.jsonl', ...offline, '--store', store], { cwd: folder })
    expect(run).toMatchObject({ code, stdout: '' })
    expect(run.stderr).toMatch(message)
    expect(run.stderr.split('\n').length).toBeLessThanOrEqual(3)
  })
})

test('--version is that of the package', async () => {
  const manifest = JSON.parse(readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8')) as { version: string }
  expect(await knovaryn(['--version'])).toEqual({ code: 0, stdout: `${manifest.version}\n`, stderr: '' })
})

test('a provider’s key reaches neither output nor log', async () => {
  const env = { OPENAI_API_KEY: 'sk-never-shown', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }
  writeFileSync(join(folder, 't.jsonl'), promptLines(1))
  const argv = ['run', 't.jsonl', '--provider', 'openai', '--model', 'm', '--allow-unpriced', 'm', '--call-attempts', '1', '--max-attempts', '1']
  const run = await knovaryn(argv, { cwd: folder, env })
  expect(run.code).toBe(1)
  const events = await shellLine('cat .knovaryn/log.db* | grep -c sk-never-shown; knovaryn doctor', folder)
  expect(run.stdout + run.stderr + events.stdout).not.toContain('sk-never-shown')
  expect(events.stdout).toMatch(/^0\n/)
})
