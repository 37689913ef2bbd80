import { afterAll, describe, expect, test } from 'vitest'
import { eventData } from '../../domain/job/events.ts'
import { simulate } from './world.ts'

const only = process.env['SEED']
const count = Number(process.env['SEEDS'] ?? 100)
const seeds = only === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(only)]
const write = process.env['TRACE'] === undefined ? null : (line: string) => void process.stdout.write(`${line}\n`)

/** What a hundred worlds must have shown, or the simulator has become harmless. */
const everyWeather = [
  ...Object.keys(eventData).filter((type) => type !== 'CheckpointInvalidated'),
  ...['freeze', 'death', 'drain', 'views deleted', 'append refused', 'append repeated', 'claim lost', 'lease lost'],
  ...['takeover', 'late settlement', 'overrun', 'usage invalid', 'trouble'],
  ...['ended succeeded', 'ended failed', 'ended cancelled'],
]
const happened = new Map<string, number>()

describe('the engine under a simulator', () => {
  test.each(seeds)('keeps its promises in the world of seed %i', { timeout: 60_000 }, async (seed) => {
    const report = await simulate(seed, write)
    for (const [what, times] of report.counts) happened.set(what, (happened.get(what) ?? 0) + times)
    expect(report.violations.slice(0, 3).join('\n'), `SEED=${seed} npm run sim (TRACE=1 shows every step)`).toBe('')
  })

  test(`lives through seed ${seeds[0]} twice in the same way, step by step`, async () => {
    const once: string[] = []
    const again: string[] = []
    const first = await simulate(seeds[0] ?? 1, (line) => void once.push(line))
    const second = await simulate(seeds[0] ?? 1, (line) => void again.push(line))
    expect(again).toEqual(once)
    expect(second.hash).toBe(first.hash)
    expect(once.length).toBeGreaterThan(100)
  })
})

if (only === undefined && count >= 100) {
  test(`${count} worlds show every event and every kind of disaster`, () => {
    expect(everyWeather.filter((what) => !happened.has(what))).toEqual([])
  })
}

afterAll(() => {
  if (process.env['COUNTS'] === undefined) return
  const lines = [...happened].map(([what, times]) => `${what} ${times}`)
  process.stdout.write(`${lines.toSorted((a, b) => (a < b ? -1 : 1)).join('\n')}\n`)
})
