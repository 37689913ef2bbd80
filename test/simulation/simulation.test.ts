import { describe, expect, test } from 'vitest'
import { simulate } from './world.ts'

const only = process.env['SEED']
const count = Number(process.env['SEEDS'] ?? 100)
const seeds = only === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(only)]
const write = process.env['TRACE'] === undefined ? null : (line: string) => void process.stdout.write(`${line}\n`)

const totals = new Map<string, number>()

describe('the engine under a simulator', () => {
  test.each(seeds)('keeps its promises in the world of seed %i', { timeout: 60_000 }, async (seed) => {
    const report = await simulate(seed, write)
    for (const [what, times] of report.counts) totals.set(what, (totals.get(what) ?? 0) + times)
    const how = `SEED=${seed} npm run sim (TRACE=1 shows every step)`
    expect(report.violations.slice(0, 3).join('\n'), how).toBe('')
  })
})

if (process.env['TOTALS'] !== undefined) {
  test('totals', () => {
    console.log([...totals].toSorted().map(([what, times]) => `${what} ${times}`).join('\n'))
    expect(totals.size).toBeGreaterThan(0)
  })
}
