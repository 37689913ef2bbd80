// Sums vitest's JSON reports into one line: `count.mjs <broken steps> <report>…`. Exits 1 when anything failed.
import { readFileSync } from 'node:fs'

const [broken, ...reports] = process.argv.slice(2)

const countsOf = (path) => {
  try {
    const report = JSON.parse(readFileSync(path, 'utf8'))
    // A file that does not even load has no failed test in it, and an unhandled error belongs to none.
    const unloaded = report.testResults.filter(
      (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
    ).length
    const failed = report.numFailedTests + unloaded
    return {
      passed: report.numPassedTests,
      failed: failed === 0 && !report.success ? 1 : failed,
      skipped: report.numPendingTests + report.numTodoTests,
    }
  } catch {
    return { passed: 0, failed: 1, skipped: 0 } // A run without a report ended before its end.
  }
}

const total = { passed: 0, failed: 0, skipped: 0 }
for (const counts of reports.map(countsOf)) for (const key of Object.keys(total)) total[key] += counts[key]

// Types or lint can break a step in which no test failed.
const failed = total.failed === 0 ? Number(broken) : total.failed
console.log(`${total.passed} passed, ${failed} failed, ${total.skipped} skipped`)
process.exitCode = failed === 0 ? 0 : 1
