import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const count = fileURLToPath(new URL('../../.ci/count.mjs', import.meta.url))

const green = {
  success: true,
  numPassedTests: 3,
  numFailedTests: 0,
  numPendingTests: 1,
  numTodoTests: 0,
  testResults: [{ status: 'passed', assertionResults: [{ status: 'passed' }] }],
}
const red = {
  ...green,
  success: false,
  numFailedTests: 2,
  testResults: [{ status: 'failed', assertionResults: [{ status: 'failed' }] }],
}
const unloaded = { ...green, success: false, testResults: [{ status: 'failed', assertionResults: [] }] }
const unhandled = { ...green, success: false }

const run = (broken: number, reports: readonly (object | null)[]): { line: string; status: number | null } => {
  const folder = mkdtempSync(join(tmpdir(), 'knovaryn-count-'))
  const paths = reports.map((report, at) => {
    const path = join(folder, `${at}.json`)
    if (report !== null) writeFileSync(path, JSON.stringify(report))
    return path
  })
  const { stdout, status } = spawnSync(process.execPath, [count, String(broken), ...paths], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  return { line: stdout.trim(), status }
}

test.each([
  ['sums green runs', 0, [green, green], '6 passed, 0 failed, 2 skipped', 0],
  ['counts failed tests', 1, [green, red], '6 passed, 2 failed, 2 skipped', 1],
  ['counts a test file that does not load', 1, [unloaded], '3 passed, 1 failed, 1 skipped', 1],
  ['counts an error outside of every test', 1, [unhandled], '3 passed, 1 failed, 1 skipped', 1],
  ['counts a run that left no report', 1, [green, null], '3 passed, 1 failed, 1 skipped', 1],
  ['counts a step that broke without a failed test', 1, [green], '3 passed, 1 failed, 1 skipped', 1],
])('the closing line of CI %s', (_, broken, reports, line, status) => {
  expect(run(broken, reports)).toEqual({ line, status })
})
