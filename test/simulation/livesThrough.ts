import { afterAll, describe, expect, test } from 'vitest'
import { eventData } from '../../domain/job/events.ts'
import { simulate } from './world.ts'

const write = process.env['TRACE'] === undefined ? null : (line: string) => void process.stdout.write(`${line}\n`)

/** What fifty worlds must have shown, or the simulator has become harmless. */
const everyDisaster = [
  ...Object.keys(eventData).filter((type) => type !== 'CheckpointInvalidated'),
  ...['freeze', 'death', 'drain', 'views deleted', 'append refused', 'append repeated', 'claim lost', 'lease lost'],
  ...['takeover', 'overrun', 'usage invalid', 'trouble'],
  ...['ended succeeded', 'ended failed', 'ended cancelled'],
]
const enough = 50

/** The seeds asked for that leave this remainder when halved: two files share them, and with them two cores. */
export const seedsOf = (remainder: 0 | 1): readonly number[] => {
  const only = process.env['SEED']
  const count = Number(process.env['SEEDS'] ?? 100)
  const seeds = only === undefined ? Array.from({ length: count }, (_, index) => index + 1) : [Number(only)]
  return seeds.filter((seed) => seed % 2 === remainder)
}

/** One test a seed, named by it; and one for what they have shown together. */
export const livesThrough = (seeds: readonly number[]): void => {
  const happened = new Map<string, number>()

  describe('the engine under a simulator', () => {
    test.each(seeds)('keeps its promises in the world of seed %i', { timeout: 60_000 }, async (seed) => {
      const report = await simulate(seed, write)
      for (const [what, times] of report.counts) happened.set(what, (happened.get(what) ?? 0) + times)
      expect(report.violations.slice(0, 3).join('\n'), `SEED=${seed} npm run sim (TRACE=1 shows every step)`).toBe('')
    })

    if (seeds.length < enough) return
    test(`meets every event and every kind of disaster in ${seeds.length} worlds`, () => {
      expect(everyDisaster.filter((what) => !happened.has(what))).toEqual([])
    })
  })

  afterAll(() => {
    if (process.env['COUNTS'] === undefined) return
    const lines = [...happened].map(([what, times]) => `${what} ${times}`)
    process.stdout.write(`${lines.toSorted((a, b) => (a < b ? -1 : 1)).join('\n')}\n`)
  })
}
