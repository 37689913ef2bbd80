import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { PolicyBlockError } from '../../domain/errors.ts'
import { durationText } from '../../server/cli/durationText.ts'
import { defineJob, type JobDefinition } from '../../server/defineJob.ts'
import { cliBench, offline, promptLines } from '../support/cliInProcess.ts'

const bench = async (surroundings: Parameters<typeof cliBench>[0] = {}) => {
  const cli = await cliBench(surroundings)
  const path = cli.file('p.jsonl', promptLines(20))
  return { ...cli, path, batch: [path, ...offline] }
}

/** A job type whose policy forbids its only document, as it also tells before. */
const forbidden = async () => {
  throw new PolicyBlockError('policy_block', 'secret.txt is marked confidential')
}
const blocked: JobDefinition = defineJob({
  type: 'blocked',
  version: 1,
  input: z.object({}),
  stages: [{ name: 'only', run: forbidden }],
  inspect: () => ({ input: {}, calls: [] }),
  foresee: async function* () {
    yield await forbidden()
  },
})

describe('estimate', () => {
  test('shows calls, tokens, cost and time by stage and together', async () => {
    const { run, batch } = await bench()
    const { code, stdout, stderr } = await run('estimate', ...batch)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [heading, ...lines] = stdout.split('\n')
    expect(heading).toBe('STAGE     CALLS  EXAMPLES   IN  AT WORST    OUT  AT WORST      COST  AT WORST  TIME  AT WORST')
    expect(lines.slice(0, 5)).toEqual([
      'intake',
      'generate     20            220       220  10240     20480  $0.02059  $0.04107  61 s    50 min',
      'export',
      'total        20            220       220  10240     20480  $0.02059  $0.04107  61 s    50 min',
      '',
    ])
    expect(stdout).toContain('Expected is a guess')
    expect(stdout).toContain('A call whose answer is lost may be billed again, up to 3 times in all.')
  })

  test('is one document with --json', async () => {
    const { json, batch, engine } = await bench()
    const { code, document } = await json('estimate', ...batch)
    expect(code).toBe(0)
    expect(document).toMatchObject({ existing: false, basis: 'guess', total: { calls: 20, costUsd: { worst: '0.04107' } }, exceeds: [] })
    expect((await engine.list({})).items).toEqual([])
  })

  test('of a job that cannot fit exits 0 and says which limit, and what to raise', async () => {
    const { run, batch } = await bench()
    const { code, stdout } = await run('estimate', ...batch, '--max-calls', '7', '--budget-usd', '0.01')
    expect(code).toBe(0)
    expect(stdout).toContain('It cannot fit: 20 calls, --max-calls is 7: raise it.')
    expect(stdout).toContain('It may pause: up to $0.04107, --budget-usd is $0.01.')
  })

  test('of a job that is there names it', async () => {
    const { run, json, batch } = await bench()
    const { document } = await json('submit', ...batch)
    expect((await run('estimate', ...batch)).stdout).toContain(`knovaryn job status ${document.jobId.slice(0, 12)}`)
  })

  test('says what it cannot know: a price, a provider, the calls of a type', async () => {
    const untold = defineJob({ ...blocked, type: 'untold', stages: blocked.stages, foresee: undefined as never })
    const { run, path } = await bench({ definitions: [untold] })
    const free = await run('estimate', path, '--provider', 'mine', '--model', 'free', '--allow-unpriced', 'free')
    expect(free.stdout).toContain('free has no price: its calls are not in the cost.')
    expect(free.stderr).toContain('provider "mine" is not known here.')
    expect((await run('estimate', path, ...offline, '--type', 'untold')).stdout).toContain('job type untold does not tell its calls beforehand')
    expect((await run('estimate', path, '--type', 'untold')).stdout).toContain('It asks no provider.')
  })

  test('that cannot be made exits 2 and says why', async () => {
    const { run, json, path } = await bench({ definitions: [blocked] })
    const { code, document } = await json('estimate', path, ...offline, '--type', 'blocked')
    expect({ code, error: document.error }).toMatchObject({ code: 2, error: { code: 'policy_block' } })
    expect(await run('estimate', path, '--provider', 'offline', '--model', 'dear')).toMatchObject({ code: 2 })
  })

  test('makes no store', async () => {
    const { run, batch, opened, folder } = await bench()
    const before = readdirSync(folder)
    expect(await run('estimate', ...batch, '--store', `sqlite:${join(folder, 'none')}`)).toMatchObject({ code: 0 })
    expect(opened.map(({ store }) => store)).toEqual(['memory:'])
    expect(readdirSync(folder)).toEqual(before)
  })
})

describe.each(['run', 'submit'])('%s', (command) => {
  test('says on stderr what a new job is going to take, and of one that is there nothing', async () => {
    const { json, batch } = await bench()
    const first = await json(command, ...batch)
    expect(first.stderr).toContain('about 20 calls, $0.02059 guessed, $0.04107 at worst, about 61 s\n')
    expect(first.document).toMatchObject({ estimatedCostUsd: '0.04107' })
    const again = await json(command, ...batch)
    expect(again.document).toMatchObject({ existing: true })
    expect(again.stderr).not.toContain('about 20 calls')
  })

  test('refuses what cannot fit before anything is written, unless it is allowed', async () => {
    const { json, run, batch, engine } = await bench()
    const tight = [...batch, '--max-calls', '7']
    const { code, document, stderr } = await json(command, ...tight)
    expect({ code, stderr }).toEqual({ code: 2, stderr: '' })
    expect(document.error).toMatchObject({
      code: 'over_budget',
      message: expect.stringContaining('20 calls, --max-calls is 7'),
      details: { exceeds: [{ limit: 'maximumCalls', value: 20, maximum: 7 }] },
    })
    expect((await engine.list({})).items).toEqual([])
    const allowed = await run(command, ...tight, '--allow-over-budget')
    expect(allowed.stderr).toContain('It cannot fit, and will pause: 20 calls, --max-calls is 7.')
    expect(allowed.code).toBe(command === 'run' ? 3 : 0)
  })

  test('never refuses a job that is there', async () => {
    const { run, batch } = await bench()
    const tight = [...batch, '--max-calls', '7']
    await run(command, ...tight, '--allow-over-budget')
    expect((await run(command, ...tight)).code).toBe(command === 'run' ? 3 : 0)
  })

  test('does not refuse by a guess, and does by what earlier answers came to', async () => {
    const { run, batch, file } = await bench()
    const poor = [...batch, '--budget-usd', '0.0001', '--key', 'poor']
    expect((await run(command, ...poor)).stderr).toContain('It may pause: up to $0.04107, --budget-usd is $0.0001.')
    await run('run', file('more.jsonl', promptLines(25)), ...offline)
    const refused = await run(command, ...batch, '--budget-usd', '0.0001', '--key', 'poorer')
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('$0.00059, --budget-usd is $0.0001') })
  })

  test('leaves no store behind when it refuses', async () => {
    const { run, batch, opened, folder } = await bench()
    const missing = ['--store', `sqlite:${join(folder, 'none')}`]
    expect(await run(command, ...batch, ...missing, '--max-calls', '7')).toMatchObject({ code: 2 })
    expect(opened.map(({ store }) => store)).toEqual(['memory:'])
  })

  test('lets the job itself meet what stands in the way of an estimate', async () => {
    const { json, path } = await bench({ definitions: [blocked] })
    const { document, stderr } = await json(command, path, ...offline, '--type', 'blocked')
    expect(stderr).toContain('no estimate: secret.txt is marked confidential')
    expect(document).toMatchObject(command === 'run' ? { state: 'failed', errorCode: 'policy_block' } : { state: 'queued' })
  })
})

test('of a job that asks nobody nothing is said', async () => {
  const { json, path } = await bench({ definitions: [defineJob({ ...blocked, foresee: async function* () {} })] })
  const { stderr } = await json('submit', path, '--type', 'blocked')
  expect(stderr).toBe('')
})

test.each([
  [0, 'under 1 s'],
  [1, '1 s'],
  [119, '119 s'],
  [120, '2 min'],
  [3_569, '59 min'],
  [3_571, '1 h'],
  [4_800, '1 h 20 min'],
  [86_399, '1 d'],
  [100_000, '1 d 4 h'],
])('%d seconds are %s', (seconds, text) => {
  expect(durationText(seconds)).toBe(text)
})
