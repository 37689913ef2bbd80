import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { InvalidInputError } from '../../domain/errors.ts'
import { defineJob } from '../../server/defineJob.ts'
import { cliBench, offline, promptLines } from '../support/cliInProcess.ts'

/** Room for one call at its worst, and not for a second beside what the first has cost. */
const onlyOneCall = ['--budget-usd', '0.00206'] as const

const bench = async () => {
  const cli = await cliBench()
  const path = cli.file('p.jsonl', promptLines(4))
  const line = (...more: string[]): string[] => ['run', path, ...offline, '--concurrency', '1', ...more]
  return { ...cli, path, line }
}

/** A job that fails until it is mended. */
const failing = async () => {
  let broken = true
  const definition = defineJob({
    type: 'fragile',
    version: 1,
    input: z.object({}),
    stages: [
      {
        name: 'only',
        run: async () => {
          if (broken) throw new InvalidInputError('the stage is broken')
          return {}
        },
      },
    ],
    inspect: () => ({ input: {}, calls: [] }),
  })
  const cli = await cliBench({ definitions: [definition] })
  const line = ['run', cli.file('any.txt', 'x'), '--type', 'fragile']
  return { ...cli, line, mend: () => void (broken = false) }
}

/** The table of what `run` does on a job that is there already. */
describe('run again on a job that is', () => {
  test('open works it', async () => {
    const { json, run, line } = await bench()
    const [, ...rest] = line()
    const submitted = await json('submit', ...rest)
    const { code, document } = await json(...line())
    expect({ code, state: document['state'], jobId: document.jobId }).toEqual({
      code: 0,
      state: 'succeeded',
      jobId: submitted.document.jobId,
    })
    expect((await run('job', 'list')).stdout.trimEnd().split('\n')).toHaveLength(2)
  })

  test('open follows whoever works it', async () => {
    const { json, line, workplace } = await bench()
    const [, ...rest] = line()
    await json('submit', ...rest)
    const stop = new AbortController()
    const other = workplace.work({ workerId: 'other' }, stop.signal)
    expect(await json(...line())).toMatchObject({ code: 0, document: { state: 'succeeded', budget: { callsMade: 4 } } })
    stop.abort()
    await other
  })

  test('paused by its budget shows why, exits 3 and changes nothing', async () => {
    const { json, run, line, engine } = await bench()
    const first = await json(...line(...onlyOneCall))
    expect(first).toMatchObject({ code: 3, document: { state: 'paused', errorCode: 'budget_exhausted', budget: { callsMade: 1 } } })
    for (const given of [onlyOneCall, [], ['--budget-usd', '0.001']]) {
      const { code, stdout } = await run(...line(...given))
      // Without a limit of its own on the line the default is not "given".
      expect({ given, code }).toEqual({ given, code: 3 })
      expect(stdout).toMatch(/why +budget_exhausted: maximumCostUsd/)
      expect(stdout).toMatch(/knovaryn job resume [0-9a-f]{12} --budget-usd NEW_TOTAL/)
      expect(stdout).toContain('no limit given is above its own')
    }
    expect((await engine.status(first.document.jobId)).revision).toBe(first.document.revision)
  })

  test('paused goes on when a limit given is higher, and sends no line twice', async () => {
    const { json, line, engine } = await bench()
    const { document } = await json(...line(...onlyOneCall))
    expect(await json(...line('--budget-usd', '1'))).toMatchObject({
      code: 0,
      document: { jobId: document.jobId, state: 'succeeded', budget: { maximumCostUsd: '1', callsMade: 4 } },
    })
    const { lines } = await engine.ledger(document.jobId)
    expect(lines.map(({ key }) => key)).toEqual(['line-0', 'line-1', 'line-2', 'line-3'])
  })

  test('paused stays so when the higher limit is still too low, and says what it needs', async () => {
    const { json, run, line } = await bench()
    const { document } = await json(...line(...onlyOneCall))
    const { code, stderr } = await run(...line('--budget-usd', '0.00207'))
    expect(code).toBe(2)
    expect(stderr).toMatch(/maximumCostUsd is 0\.00207; with this call at its worst it would be 0\.00\d+/)
    expect(await json('job', 'status', document.jobId)).toMatchObject({ document: { state: 'paused', budget: { maximumCostUsd: '0.00206' } } })
  })

  test('paused by somebody exits 3 and names resume', async () => {
    const { json, run, line } = await bench()
    const [, ...rest] = line()
    const { document } = await json('submit', ...rest)
    await run('job', 'pause', document.jobId)
    const { code, stdout } = await run(...line())
    expect(code).toBe(3)
    expect(stdout).toContain(`knovaryn job resume ${document.jobId.slice(0, 12)}`)
  })

  test('failed exits 1 and names retry', async () => {
    const { run, line, mend } = await failing()
    expect(await run(...line)).toMatchObject({ code: 1 })
    mend()
    const { code, stdout } = await run(...line)
    expect(code).toBe(1)
    expect(stdout).toMatch(/· failed\n[^]*knovaryn job retry [0-9a-f]{12}/)
    const [, id = ''] = /Job (\w+)/.exec(stdout) ?? []
    expect(await run('job', 'retry', id)).toMatchObject({ code: 0 })
    expect(await run(...line)).toMatchObject({ code: 0, stdout: expect.stringContaining('· succeeded') })
  })

  test('cancelled exits 4 and names --key, with which it is another job', async () => {
    const { json, run, line } = await bench()
    const [, ...rest] = line()
    const { document } = await json('submit', ...rest)
    await run('job', 'cancel', document.jobId)
    const { code, stdout } = await run(...line())
    expect(code).toBe(4)
    expect(stdout).toMatch(/· cancelled\n[^]*--key/)
    const other = await json(...line('--key', 'once more'))
    expect(other).toMatchObject({ code: 0, document: { state: 'succeeded' } })
    expect(other.document.jobId).not.toBe(document.jobId)
  })

  test('succeeded fills --out again, exits 0 and pays nothing', async () => {
    const { json, run, line, folder } = await bench()
    const { document } = await json(...line())
    const out = join(folder, 'out')
    expect(await run(...line('--out', out))).toMatchObject({ code: 0 })
    expect(existsSync(join(out, 'results.jsonl'))).toBe(true)
    expect(await json('job', 'status', document.jobId)).toMatchObject({ document: { revision: document.revision } })
  })
})

test('another work under a taken key is refused, naming the job that has it', async () => {
  const { json, run, line, file } = await bench()
  const { document } = await json(...line('--key', 'mine'))
  const { code, stderr } = await run('run', file('q.jsonl', promptLines(5)), ...offline, '--key', 'mine')
  expect(code).toBe(2)
  expect(stderr).toContain(document.jobId)
})

describe('a signal', () => {
  test('drains a run, which exits 130 and goes on when run again', async () => {
    const cli = await cliBench({ latencyMs: 20 })
    const path = cli.file('p.jsonl', promptLines(50))
    const line = ['run', path, ...offline, '--concurrency', '2']
    const running = cli.json(...line)
    await cli.heard()
    await cli.answers(4)
    cli.interrupt()
    const stopped = await running
    expect(stopped).toMatchObject({ code: 130, document: { state: 'queued', budget: { reservedCostUsd: '0', heldCostUsd: '0' } } })
    expect(stopped.stderr).toContain('Stopping: open calls may end first. Once more to quit at once.')
    expect(stopped.stderr).toContain('The same command goes on where it stopped.')
    expect(await cli.json(...line)).toMatchObject({ code: 0, document: { budget: { callsMade: 50 } } })
  })

  test('drains a worker, which exits 0', async () => {
    const cli = await cliBench({ latencyMs: 20 })
    await cli.run('submit', cli.file('p.jsonl', promptLines(50)), ...offline)
    const working = cli.run('worker')
    await cli.answers(2)
    cli.interrupt()
    expect(await working).toMatchObject({ code: 0 })
    expect((await cli.json('job', 'list')).document.items).toMatchObject([{ state: 'queued', reservedCostUsd: '0' }])
  })
})
