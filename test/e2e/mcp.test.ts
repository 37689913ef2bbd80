import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { agentOn, batch } from '../support/mcpAgents.ts'
import { knovaryn, knovarynJson } from '../support/processes.ts'
import { until } from '../support/until.ts'

const dist = process.env['KNOVARYN_TEST_DIST'] ?? fileURLToPath(new URL('../../dist', import.meta.url))

/** Whatever a job module of a user may say, by every way there is. */
const noisy = `
console.log('NOISE: log'); console.info('NOISE: info'); console.error('NOISE: error')
process.stdout.write('NOISE: write\\n')
process.emitWarning('NOISE: an old way', 'DeprecationWarning')
new Buffer(1)
export default []
`

const asked = { ...batch(2), idempotencyKey: 'cold' }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'knovaryn-mcp-'))
  writeFileSync(join(folder, 'noisy.mjs'), noisy)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const command = () => ({
  command: process.execPath,
  args: [`${dist}/server/main.js`, 'mcp', '--store', `sqlite:${folder}/new`, '--jobs', join(folder, 'noisy.mjs')],
  env: { PATH: process.env['PATH'] ?? '', KNOVARYN_DEBUG: '1', NODE_DEBUG: 'module', NODE_OPTIONS: '--trace-deprecation' },
  cwd: folder,
})

test('an agent at standard input estimates, submits a batch, polls it to its end and reads its cost', async () => {
  const agent = await agentOn(new StdioClientTransport({ ...command(), stderr: 'ignore' }))
  expect((await agent.client.listTools()).tools).toHaveLength(9)
  expect((await agent.answer('knovaryn_estimate_job', asked)).value).toMatchObject({ existing: false, total: { calls: 2 } })
  const { jobId } = (await agent.answer('knovaryn_submit_job', asked)).value.job

  await knovaryn(['worker', '--once', '--store', `sqlite:${folder}/new`])
  const job = await until('the end of the job', async () => {
    const { value } = await agent.answer('knovaryn_get_job', { jobId })
    return value.job['state'] === 'succeeded' ? value.job : undefined
  })
  const status = await knovarynJson(['job', 'status', jobId, '--store', `sqlite:${folder}/new`])
  expect(Number(job['actualCostUsd'])).toBeGreaterThan(0)
  expect(job['actualCostUsd']).toBe(status['actualCostUsd'])
  expect(agent.errors).toEqual([])
})

test.each(['the end of its input', 'SIGTERM'] as const)(
  'OX-08: standard output carries the protocol alone, from a cold start and with debug logging, until %s',
  async (end) => {
    const { command: node, args, env, cwd } = command()
    const child = spawn(node, args, { env, cwd, stdio: 'pipe' })
    const [stdout, stderr] = [text(child.stdout), text(child.stderr)]
    const ended = new Promise((resolve) => child.once('close', resolve))
    const answered = new Promise((resolve) => child.stdout.on('data', (chunk: Buffer) => String(chunk).includes('"id":2') && resolve(null)))
    const ask = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    const clientInfo = { name: 'test', version: '1' }
    ask({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } })
    ask({ method: 'notifications/initialized' })
    ask({ id: 1, method: 'tools/call', params: { name: 'knovaryn_submit_job', arguments: asked } })
    ask({ id: 2, method: 'tools/call', params: { name: 'knovaryn_get_job', arguments: { jobId: 'nobody' } } })
    if (end === 'SIGTERM') {
      await answered
      child.kill('SIGTERM')
    } else {
      child.stdin.end()
    }
    expect(await ended).toBe(0)
    const messages = (await stdout).split('\n').filter((line) => line !== '').map((line) => JSON.parse(line) as object)
    expect(messages).toHaveLength(3)
    for (const message of messages) expect(message).toMatchObject({ jsonrpc: '2.0', id: expect.any(Number), result: expect.any(Object) })
    for (const noise of ['log', 'info', 'error', 'write', 'an old way']) expect(await stderr).toContain(`NOISE: ${noise}`)
    expect(await stderr).toMatch(/DEP0005/)
  },
)
