import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { cliBench, offline, promptLines } from '../support/cliInProcess.ts'
import { serverBench } from '../support/serverBench.ts'

/** A command line beside a server, with a store of its own that must stay unopened. */
const atServer = async (env: Record<string, string> = {}) => {
  const server = await serverBench()
  const bench = await cliBench({ env })
  return { server, bench, path: bench.file('p.jsonl', promptLines(3)), at: ['--server', server.url] as const }
}

describe('--server', () => {
  test('does with the jobs there what the commands do with those of a store, and opens none', async () => {
    const { server, bench, path, at } = await atServer()
    expect((await bench.json('estimate', path, ...offline, ...at)).document).toMatchObject({ existing: false, total: { calls: 3 } })
    const { code, document, stderr } = await bench.json('submit', path, ...offline, ...at)
    expect([code, document['existing']]).toEqual([0, false])
    expect(stderr).toContain('3 calls')
    expect((await bench.json('submit', path, ...offline, ...at)).document).toMatchObject({ jobId: document.jobId, existing: true })
    const { jobId } = document
    for (const [verb, state] of [['pause', 'paused'], ['resume', 'queued'], ['raise-budget', 'queued']] as const) {
      const more = verb === 'raise-budget' ? ['--budget-usd', '60'] : []
      expect((await bench.json('job', verb, jobId, ...more, ...at)).document).toMatchObject({ jobId, state })
    }
    await server.workplace.work({ once: true })
    expect((await bench.json('job', 'status', jobId.slice(0, 12), ...at)).document).toMatchObject({ state: 'succeeded' })
    expect((await bench.json('job', 'watch', jobId, ...at)).code).toBe(0)
    expect((await bench.json('job', 'list', ...at)).document.items).toMatchObject([{ jobId }])
    expect((await bench.json('job', 'events', jobId, '--tail', '1', ...at)).document.items).toMatchObject([{ type: 'JobSucceeded' }])
    expect((await bench.json('job', 'ledger', jobId, ...at)).document.lines).toHaveLength(3)
    expect((await bench.json('job', 'audit', jobId, ...at)).document).toMatchObject({ jobs: 1, findings: [] })
    expect((await bench.json('log', 'verify', ...at)).document).toMatchObject({ jobs: 1, findings: [] })
    for (const verb of ['list', 'rebuild', 'verify']) expect((await bench.run('projections', verb, ...at)).code).toBe(0)
    expect(bench.opened).toEqual([])
    expect(server.faults).toEqual([])
  })

  test('waits for the workers there, and fills --out with what they made', async () => {
    const { server, bench, path, at } = await atServer()
    const out = join(bench.folder, 'out')
    const waiting = bench.run('submit', path, ...offline, '--wait', '--out', out, ...at)
    await bench.heard()
    await server.workplace.work({ once: true })
    const { code, stdout } = await waiting
    expect(code).toBe(0)
    expect(stdout).toContain(`Results: ${join(out, 'results.jsonl')}`)
    expect(readFileSync(join(out, 'results.jsonl'), 'utf8').trimEnd().split('\n')).toHaveLength(3)
    expect(bench.opened).toEqual([])
  })

  test('may be named by KNOVARYN_SERVER, and a store on the command line comes before that', async () => {
    const server = await serverBench()
    const bench = await cliBench({ env: { KNOVARYN_SERVER: `${server.url}/` } })
    const path = bench.file('p.jsonl', promptLines(1))
    const { jobId } = (await bench.json('submit', path, ...offline)).document
    expect(bench.opened).toEqual([])
    expect(await server.engine.status(jobId)).toMatchObject({ state: 'queued' })
    expect((await bench.json('job', 'list', '--store', 'memory:')).document.items).toEqual([])
    expect(bench.opened).toHaveLength(1)
  })

  test('sends the token of KNOVARYN_TOKEN, and says where one comes from without it', async () => {
    const server = await serverBench()
    const token = await server.token('read')
    const stranger = await cliBench()
    const { code, stderr } = await stranger.run('job', 'list', '--server', server.url)
    expect(code).toBe(2)
    expect(stderr).toContain('Set KNOVARYN_TOKEN')
    const bench = await cliBench({ env: { KNOVARYN_TOKEN: token } })
    expect((await bench.run('job', 'list', '--server', server.url)).code).toBe(0)
    const refused = await bench.json('submit', bench.file('p.jsonl', promptLines(1)), ...offline, '--server', server.url)
    expect([refused.code, refused.document.error.code]).toEqual([2, 'forbidden'])
    const broken = await cliBench({ env: { KNOVARYN_TOKEN: 'not a token' } })
    const told = await broken.run('job', 'list', '--server', server.url)
    expect([told.code, told.stderr.includes('not a token')]).toEqual([2, false])
  })

  test('shows next steps that go to the same server, and no worker that could not', async () => {
    const { bench, path, at } = await atServer()
    const { stdout } = await bench.run('submit', path, ...offline, ...at)
    expect(stdout).toContain(`knovaryn job watch`)
    expect(stdout).toContain(`--server ${at[1]}`)
    expect(stdout).not.toContain('worker --once')
  })

  test('leaves with 5 where nobody answers', async () => {
    const { server, bench, at } = await atServer()
    await server.close()
    const { code, document } = await bench.json('job', 'list', ...at)
    expect([code, document.error.code]).toEqual([5, 'store_unavailable'])
    expect(document.error.message).toContain(at[1])
  })

  test.each([
    ['run', ['run', 'p.jsonl', ...offline], 'submit --wait --server URL'],
    ['worker', ['worker'], '--store'],
    ['server', ['server'], '--store'],
    ['mcp', ['mcp'], '/mcp'],
    ['demo', ['demo'], 'it makes a store of its own'],
    ['doctor', ['doctor'], '/readyz'],
    ['token list', ['token', 'list'], 'run it where the store is'],
  ])('is refused by %s, with what to do instead', async (name, argv, instead) => {
    const bench = await cliBench()
    const { code, document } = await bench.json(...argv, '--server', 'http://127.0.0.1:1')
    expect([code, document.error.code]).toEqual([2, 'invalid_option'])
    expect(document.error.message).toContain(`${name} does not work with --server`)
    expect(document.error.message).toContain(instead)
    expect(bench.opened).toEqual([])
  })

  test.each([
    [['--store', 'memory:'], '--store is about a store here'],
    [['--artifacts', 'dir:x'], '--artifacts is about a store here'],
    [['--base-url', 'http://127.0.0.1:2'], '--base-url is about this process'],
    [['--on-end', 'true'], '--on-end is about this process'],
    [['--webhook', 'http://127.0.0.1:2'], '--webhook is about this process'],
  ])('is refused beside %j', async (more, why) => {
    const bench = await cliBench()
    const path = bench.file('p.jsonl', promptLines(1))
    const { code, document } = await bench.json('submit', path, ...offline, '--server', 'http://127.0.0.1:1', ...more)
    expect([code, document.error.code]).toEqual([2, 'invalid_option'])
    expect(document.error.message).toContain(why)
  })

  test.each(['127.0.0.1:7420', 'ftp://x', 'http://user:secret@x', 'http://x?token=secret'])('must be an address, and %j is none', async (url) => {
    const bench = await cliBench()
    const { code, stderr } = await bench.run('job', 'list', '--server', url)
    expect(code).toBe(2)
    expect(stderr).toContain('--server must be an http:// or https:// address')
    expect(stderr).not.toContain('secret')
  })
})
