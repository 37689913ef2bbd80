import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cliBench, offline, promptLines } from '../support/cliInProcess.ts'

/** The job document, as every outer surface shows it. */
const documentFields = [
  ...['jobId', 'existing', 'projectId', 'type', 'definitionVersion', 'state', 'stage', 'stageIndex', 'stages', 'progress'],
  ...['waitingFor', 'attemptCount', 'maxAttempts', 'lostLeaseCount', 'leaseOwner', 'leaseToken', 'leaseExpiresAt'],
  ...['heartbeatAt', 'retryAt', 'idempotencyKey', 'inputConfigHash', 'priority', 'labels', 'checkpoint'],
  ...['estimatedCostUsd', 'actualCostUsd', 'budget', 'priceProfile', 'pauseRequestedAt', 'cancellationRequestedAt'],
  ...['errorCode', 'errorSummary', 'output', 'createdAt', 'startedAt', 'finishedAt', 'revision'],
]
const budgetFields = [
  ...['maximumCostUsd', 'maximumCalls', 'maximumInputTokens', 'maximumOutputTokens', 'maximumDurationSeconds'],
  ...['maximumExamples', 'spentCostUsd', 'heldCostUsd', 'reservedCostUsd', 'callsMade', 'inputTokens', 'outputTokens'],
  ...['examplesProduced', 'durationSeconds', 'providers'],
]

const finished = async (surroundings: Parameters<typeof cliBench>[0] = {}) => {
  const bench = await cliBench(surroundings)
  const path = bench.file('p.jsonl', promptLines(5))
  const { code, document } = await bench.json('run', path, ...offline)
  expect(code).toBe(0)
  return { bench, path, job: document.jobId }
}

describe('run', () => {
  test('works the job to its end and fills --out with whole files alone', async () => {
    const bench = await cliBench()
    const out = join(bench.folder, 'out', 'deep')
    const { code, stdout, stderr } = await bench.run('run', bench.file('p.jsonl', promptLines(5)), ...offline, '--out', out)
    expect(code).toBe(0)
    expect(stdout).toMatch(/^Job [0-9a-f]{32} · default\/batch · succeeded\n/)
    expect(stdout).toContain(`Results: ${join(out, 'results.jsonl')}`)
    expect(stdout).toContain('lines 5 · succeeded 5 · failed 0')
    expect(stderr).toContain('succeeded')
    expect(readdirSync(out)).toEqual(['results.jsonl'])
    expect(readFileSync(join(out, 'results.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(5)
  })

  test('replaces what stands in --out, and keeps what is not its own', async () => {
    const { bench, path } = await finished()
    writeFileSync(join(bench.folder, 'results.jsonl'), 'old')
    await bench.run('run', path, ...offline, '--out', bench.folder)
    expect(readFileSync(join(bench.folder, 'results.jsonl'), 'utf8')).toContain('line-4')
    expect(readdirSync(bench.folder).sort()).toEqual(['p.jsonl', 'results.jsonl'])
  })

  test('hands over every option as the job’s own', async () => {
    const bench = await cliBench()
    const argv = [
      ...['--project', 'lab', '--max-output-tokens', '64', '--target', '9', '--key', 'mine', '--label', 'a=1', '--label', 'b=2'],
      ...['--budget-usd', '1.50', '--max-calls', '7', '--max-input-tokens', '8', '--max-total-output-tokens', '9'],
      ...['--max-duration', '10.5', '--max-examples', '11', '--max-attempts', '4', '--call-attempts', '5'],
      ...['--max-lost-leases', '6', '--on-unknown', 'pause', '--priority', '-3', '--concurrency', '2'],
      ...['--start-after', '2020-01-01T01:00:00+01:00'],
    ]
    const { document } = await bench.json('submit', bench.file('p.jsonl', promptLines(1)), ...offline, ...argv)
    expect(document).toMatchObject({
      projectId: 'lab',
      idempotencyKey: 'mine',
      labels: { a: '1', b: '2' },
      maxAttempts: 4,
      priority: -3,
      budget: {
        maximumCostUsd: '1.5',
        maximumCalls: 7,
        maximumInputTokens: 8,
        maximumOutputTokens: 9,
        maximumDurationSeconds: 10.5,
        maximumExamples: 11,
      },
    })
    const [first] = (await bench.engine.events(document.jobId, { limit: 1 })).items
    expect(first).toMatchObject({
      type: 'JobSubmitted',
      data: {
        parameters: { maxOutputTokens: 64 },
        target: 9,
        callAttempts: 5,
        maxLostLeases: 6,
        onUnknown: 'pause',
        concurrency: 2,
        startAfter: '2020-01-01T00:00:00.000Z',
      },
      meta: { actor: expect.stringMatching(/^cli:/) },
    })
  })

  test.each([
    ['openai', 'OPENAI'],
    ['anthropic', 'ANTHROPIC'],
  ])('uses the address given as that of the provider %s, whichever way it is given', async (name, prefix) => {
    const own = `${prefix}_BASE_URL`
    const addresses = await Promise.all(
      [
        { argv: ['--base-url', 'http://a/v1/'], env: { [own]: 'http://b/v1' } },
        { argv: [], env: { [own]: 'http://b/v1' } },
        { argv: [], env: { [own]: 'http://b/v1', KNOVARYN_BASE_URL: 'http://c/v1' } },
        { argv: [], env: {} },
      ].map(async ({ argv, env }) => {
        const bench = await cliBench({ env })
        const lines = bench.file('p.jsonl', promptLines(1))
        const asked = ['--provider', name, '--model', 'm', '--allow-unpriced', 'm']
        const { document } = await bench.json('submit', lines, ...asked, ...argv)
        const [first] = (await bench.engine.events(document.jobId, { limit: 1 })).items
        return [bench.opened[0]?.providers[name], first?.data]
      }),
    )
    expect(addresses).toEqual(
      ['http://a/v1', 'http://b/v1', 'http://c/v1', null].map((baseUrl) => [
        { apiKeyEnv: `${prefix}_API_KEY`, ...(baseUrl === null ? {} : { baseUrl }) },
        expect.objectContaining({ provider: { name, baseUrl } }),
      ]),
    )
  })
})

describe('the job document', () => {
  test('is the same from run, submit and status, and is exactly what was promised', async () => {
    const { bench, path, job } = await finished()
    const documents = [
      await bench.json('run', path, ...offline),
      await bench.json('submit', path, ...offline),
      await bench.json('submit', path, ...offline, '--wait'),
      await bench.json('job', 'status', job),
      await bench.json('job', 'status', job.slice(0, 8)),
      await bench.json('job', 'watch', job),
    ].map(({ code, document }) => ({ code, document }))
    for (const { code, document } of documents) {
      expect(code).toBe(0)
      expect(Object.keys(document)).toEqual(documentFields)
      expect(Object.keys(document.budget)).toEqual(budgetFields)
      expect(document).toEqual(documents[0]?.document)
    }
  })

  test('of a first run is not that of an existing job', async () => {
    const bench = await cliBench()
    const path = bench.file('p.jsonl', promptLines(1))
    const first = await bench.json('submit', path, ...offline)
    const second = await bench.json('submit', path, ...offline)
    expect([first.document.existing, second.document.existing]).toEqual([false, true])
  })
})

describe('submit', () => {
  test('leaves the job to workers, and a worker with --once finishes it', async () => {
    const bench = await cliBench()
    const { code, stdout } = await bench.run('submit', bench.file('p.jsonl', promptLines(3)), ...offline)
    expect(code).toBe(0)
    expect(stdout).toMatch(/· queued\n/)
    expect(await bench.run('worker', '--once')).toMatchObject({ code: 0, stdout: '' })
    expect((await bench.json('job', 'list')).document.items).toMatchObject([{ state: 'succeeded', callsMade: 3 }])
  })

  test('with --wait ends with the job that a worker has finished', async () => {
    const bench = await cliBench()
    const out = join(bench.folder, 'out')
    const waiting = bench.json('submit', bench.file('p.jsonl', promptLines(3)), ...offline, '--wait', '--out', out)
    const stop = new AbortController()
    const working = bench.workplace.work({}, stop.signal)
    expect(await waiting).toMatchObject({ code: 0, document: { state: 'succeeded', existing: false } })
    expect(readdirSync(out)).toEqual(['results.jsonl'])
    stop.abort()
    await working
  })

  test('with --wait and a signal waits no longer and leaves the job as it is', async () => {
    const bench = await cliBench()
    const waiting = bench.json('submit', bench.file('p.jsonl', promptLines(3)), ...offline, '--wait')
    await bench.heard()
    bench.interrupt()
    expect(await waiting).toMatchObject({ code: 130, document: { state: 'queued' } })
  })

  test('of a job that is there changes nothing about it', async () => {
    const bench = await cliBench()
    const path = bench.file('p.jsonl', promptLines(1))
    const before = await bench.json('submit', path, ...offline)
    const { stdout } = await bench.run('submit', path, ...offline, '--budget-usd', '7')
    expect(stdout).toContain('It was submitted before: nothing about it has changed.')
    expect(stdout).toContain('$0.00 of $50.00')
    expect((await bench.engine.status(before.document.jobId)).revision).toBe(before.document.revision)
  })
})

describe('job', () => {
  test('list shows a table for people and a page for programs', async () => {
    const { bench, job } = await finished()
    await bench.run('submit', bench.file('q.jsonl', promptLines(2)), ...offline, '--label', 'team=red')
    const { stdout } = await bench.run('job', 'list')
    expect(stdout.split('\n').map((line) => line.split(/\s{2,}/).slice(0, 4))).toEqual([
      ['JOB', 'PROJECT', 'TYPE', 'STATE'],
      [expect.any(String), 'default', 'batch', 'queued'],
      [job.slice(0, 12), 'default', 'batch', 'succeeded'],
      [''],
    ])
    const { document } = await bench.json('job', 'list', '--limit', '1')
    expect(Object.keys(document)).toEqual(['items', 'nextCursor'])
    expect(document.items[0]).not.toHaveProperty('fold')
    const next = await bench.json('job', 'list', '--limit', '1', '--cursor', String(document.nextCursor))
    expect(next.document).toMatchObject({ items: [{ jobId: job }] })
    const labelled = await bench.json('job', 'list', '--label', 'team=red', '--state', 'queued')
    expect(labelled.document.items).toHaveLength(1)
    expect((await bench.run('job', 'list', '--jsonl')).stdout.trimEnd().split('\n').map((line) => JSON.parse(line).jobId)[1]).toBe(job)
  })

  test('list says that there is nothing', async () => {
    const bench = await cliBench()
    expect(await bench.run('job', 'list')).toEqual({ code: 0, stdout: 'no jobs\n', stderr: '' })
    expect((await bench.json('job', 'list')).document).toEqual({ items: [], nextCursor: null })
  })

  test('events come as lines, as one document and as JSON lines, whole or in parts', async () => {
    const { bench, job } = await finished()
    const { revision } = await bench.engine.status(job)
    const { document } = await bench.json('job', 'events', job)
    expect(document.items.map((event) => event.revision)).toEqual([...Array(revision + 1).keys()])
    expect(document.nextCursor).toBeNull()

    const jsonl = await bench.run('job', 'events', job, '--jsonl')
    expect(jsonl.stdout.trimEnd().split('\n').map((line) => JSON.parse(line))).toEqual(document.items)

    const part = await bench.json('job', 'events', job, '--after', '2', '--limit', '3')
    expect(part.document.items).toEqual(document.items.slice(3, 6))
    expect(part.document.nextCursor).toBe('5')

    const people = await bench.run('job', 'events', job, '--tail', '2')
    expect(people.stdout.trimEnd().split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^ +${revision - 1} {2}\\S+Z {2}StageCompleted +export in`)),
      expect.stringMatching(new RegExp(`^ +${revision} {2}\\S+Z {2}JobSucceeded$`)),
    ])
    expect((await bench.run('job', 'events', job, '--tail', '100000')).stdout).toMatch(/^ +0 {2}.*JobSubmitted/)
  })

  test('ledger adds up to the digit for people and programs', async () => {
    const { bench, job } = await finished()
    const { document } = await bench.json('job', 'ledger', job)
    expect(Object.keys(document)).toEqual(['lines', 'totals'])
    expect(document.lines).toHaveLength(5)
    const { stdout } = await bench.run('job', 'ledger', job)
    expect(stdout).toMatch(/settled +5 +\d+ +\d+ +\$0\.\d+\nheld +0 +0 +0 +\$0\.00\n/)
    expect((await bench.run('job', 'ledger', job, '--jsonl')).stdout.trimEnd().split('\n')).toHaveLength(5)
  })

  test('pause, resume, cancel and raise-budget act on the job and show it', async () => {
    const bench = await cliBench()
    const { document } = await bench.json('submit', bench.file('p.jsonl', promptLines(1)), ...offline)
    const job: string = document.jobId
    expect(await bench.json('job', 'pause', job)).toMatchObject({ code: 0, document: { state: 'paused' } })
    expect((await bench.run('job', 'status', job)).stdout).toMatch(/why +somebody asked it to pause[^]*knovaryn job resume/)
    expect(await bench.json('job', 'raise-budget', job, '--budget-usd', '60', '--max-calls', '20000')).toMatchObject({
      document: { state: 'paused', budget: { maximumCostUsd: '60', maximumCalls: 20_000 } },
    })
    expect(await bench.json('job', 'resume', job.slice(0, 10), '--max-examples', '3000')).toMatchObject({
      document: { state: 'queued', budget: { maximumExamples: 3_000 } },
    })
    expect(await bench.json('job', 'cancel', job)).toMatchObject({ code: 0, document: { state: 'cancelled' } })
    expect(await bench.json('job', 'resume', job)).toMatchObject({ code: 2, document: { error: { code: 'job_state' } } })
    expect((await bench.run('job', 'retry', job)).stderr).toContain('is cancelled')
  })

  test('audit and log verify agree that a healthy job is healthy', async () => {
    const { bench, job } = await finished()
    for (const argv of [['job', 'audit', job], ['log', 'verify']]) {
      expect(await bench.json(...argv)).toMatchObject({ code: 0, document: { jobs: 1, findings: [] } })
      expect((await bench.run(...argv)).stdout).toMatch(/^ok: 1 job, \d+ events, \d+ artifacts checked/)
    }
  })

  test('what is broken is named, and makes exit code 1', async () => {
    const { bench, job } = await finished()
    const finding = { rule: 'chain', message: 'the hash is another', stream: `job-${job}`, revision: 3 }
    Object.assign(bench.engine, {
      verifyLog: async () => ({ jobs: 1, events: 9, artifacts: 2, findings: [finding] }),
      verifyProjections: async () => [
        { name: 'jobList', version: 1, documents: 1, equal: false, differs: { key: job, stored: '1', folded: '2' } },
      ],
    })
    expect(await bench.run('log', 'verify')).toMatchObject({
      code: 1,
      stdout: `BROKEN: 1 job, 9 events, 2 artifacts checked, 1 finding\n  job-${job} at revision 3: chain: the hash is another\n`,
    })
    expect(await bench.json('log', 'verify')).toMatchObject({ code: 1, document: { findings: [finding] } })
    expect(await bench.run('projections', 'verify')).toMatchObject({ code: 1, stdout: expect.stringContaining(`first in ${job}`) })
    expect(await bench.json('projections', 'verify')).toMatchObject({ code: 1, document: { items: [{ equal: false }] } })
  })
})

describe('reconcile', () => {
  /** A failed job whose two calls nobody knows the bill of. */
  const held = async () => {
    const server = createServer((_, response) => void response.writeHead(500).end('{}'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const bench = await cliBench()
    const prices = { id: 'p', effectiveFrom: '2020-01-01', provider: 'openai', models: { m: { inputPerMTok: '0', cachedInputPerMTok: '0', outputPerMTok: '1000' } } }
    const { code, document } = await bench.json(
      ...['run', bench.file('p.jsonl', promptLines(2)), '--provider', 'openai', '--base-url', `http://127.0.0.1:${port}/v1`],
      ...['--model', 'm', '--max-output-tokens', '100', '--call-attempts', '1', '--max-attempts', '1'],
      ...['--price-profile', bench.file('prices.json', JSON.stringify(prices))],
    )
    expect({ code, budget: document.budget }).toMatchObject({ code: 1, budget: { heldCostUsd: '0.2', callsMade: 2 } })
    return { ...bench, job: document.jobId }
  }

  test('closes a held call by the provider’s bill, and the next by its absence', async () => {
    const { run, json, job } = await held()
    expect((await run('job', 'ledger', job)).stdout).toMatch(/held +2 +\S+ +200 +\$0\.20/)
    const billed = ['--call', '1', '--billed', '--cost-usd', '0.03', '--input-tokens', '5', '--output-tokens', '30', '--note', 'invoice 7']
    expect(await json('job', 'reconcile', job, ...billed)).toMatchObject({
      code: 0,
      document: { budget: { spentCostUsd: '0.03', heldCostUsd: '0.1', inputTokens: 5, outputTokens: 30 } },
    })
    expect(await json('job', 'reconcile', job, '--call', '2', '--not-billed')).toMatchObject({
      code: 0,
      document: { budget: { spentCostUsd: '0.03', heldCostUsd: '0' } },
    })
    const { stdout } = await run('job', 'ledger', job)
    expect(stdout).toMatch(/line-0.*reconciled.*\$0\.03.*invoice 7/)
  })

  test('without a cost books the held worst case', async () => {
    const { json, job } = await held()
    expect(await json('job', 'reconcile', job, '--call', '2', '--billed')).toMatchObject({
      document: { budget: { spentCostUsd: '0.1', heldCostUsd: '0.1' } },
    })
  })

  test('refuses a call that is not held, naming where to look', async () => {
    const { run, job } = await held()
    const { code, stderr } = await run('job', 'reconcile', job, '--call', '9', '--not-billed')
    expect(code).toBe(2)
    expect(stderr).toMatch(/holds no call 9\n.*knovaryn job ledger/)
  })
})

describe('projections', () => {
  test('are listed, made anew and compared', async () => {
    const { bench } = await finished()
    const { document } = await bench.json('projections', 'list')
    expect(document.items.map((each) => each['upToDate'])).not.toContain(false)
    expect(await bench.json('projections', 'rebuild', 'jobList')).toMatchObject({ code: 0 })
    expect(await bench.run('projections', 'verify')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^ok: readyJobs: 0 documents/) })
    expect((await bench.run('projections', 'list')).stdout).toMatch(/^PROJECTION +VERSION +DOCUMENTS/)
  })
})

describe('doctor', () => {
  test('finds a healthy place healthy, and says of a key only that it is there', async () => {
    const bench = await cliBench({ env: { OPENAI_API_KEY: 'sk-hidden', ANTHROPIC_API_KEY: 'sk-hidden' } })
    const { code, stdout } = await bench.run('doctor')
    expect(code).toBe(0)
    expect(stdout).not.toMatch(/^(warn|fail)/m)
    expect(stdout).not.toContain('sk-hidden')
    expect(stdout).toMatch(/^ok +provider openai +key in OPENAI_API_KEY$/m)
    expect(stdout).toMatch(/^ok +provider anthropic +key in ANTHROPIC_API_KEY$/m)
  })

  test('warns of a misspelt variable with the right one', async () => {
    const bench = await cliBench({ env: { KNOVARYN_LEASE: '5' } })
    const { code, document } = await bench.json('doctor')
    expect(code).toBe(0)
    expect(document.items).toContainEqual({
      check: 'variables',
      verdict: 'warn',
      message: 'KNOVARYN_LEASE has no effect',
      advice: 'did you mean KNOVARYN_LEASE_SECONDS?',
    })
  })
})

describe('on a terminal', () => {
  test('the job is drawn beside its result, and states have a colour', async () => {
    const bench = await cliBench({ terminal: true })
    const { stdout, stderr } = await bench.run('run', bench.file('p.jsonl', promptLines(20)), ...offline)
    expect(stderr).toContain('\u001b[32m✓\u001b[0m generate')
    expect(stdout).toContain('\u001b[32msucceeded\u001b[0m')
  })

  test('NO_COLOR leaves the colours out', async () => {
    const bench = await cliBench({ terminal: true, env: { NO_COLOR: '1' } })
    const { stdout } = await bench.run('run', bench.file('p.jsonl', promptLines(1)), ...offline)
    expect(stdout).not.toContain('\u001b')
  })
})

test('--json may be given anywhere, or once and for all by its variable', async () => {
  const bench = await cliBench({ env: { KNOVARYN_JSON: '1' } })
  expect(JSON.parse((await bench.run('job', 'list')).stdout)).toEqual({ items: [], nextCursor: null })
  expect(JSON.parse((await bench.run('job', 'nothing')).stdout)).toMatchObject({ error: { code: 'unknown_command' } })
  const plain = await cliBench()
  expect(JSON.parse((await plain.run('--json', 'job', 'list')).stdout)).toEqual({ items: [], nextCursor: null })
})

test('--version and --help answer without a store', async () => {
  const bench = await cliBench()
  expect(await bench.run('--version')).toEqual({ code: 0, stdout: '0.0.0\n', stderr: '' })
  const { code, stdout } = await bench.run('run', '--help')
  expect(code).toBe(0)
  expect(stdout).toContain('KNOVARYN_LEASE_SECONDS')
  expect(bench.opened).toEqual([])
})
