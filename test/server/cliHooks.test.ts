import { createHmac } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { runCli } from '../../server/cli/runCli.ts'
import type { Shell, TextOut } from '../../server/cli/shell.ts'
import { openWorkplace } from '../../server/compose.ts'
import { type Received, webhookReceiver } from '../adapters/hooks/webhookReceiver.ts'
import { offline, promptLines } from '../support/cliInProcess.ts'
import { until } from '../support/until.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

const textBench = (): TextOut & { text(): string } => {
  let text = ''
  return { isTerminal: false, columns: 80, rows: 24, write: async (more) => ((text += more), true), text: () => text }
}

/** Command lines of this process on a store of its own, put together as the program is. */
const bench = (env: Record<string, string> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'knovaryn-hooks-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'p.jsonl'), promptLines(2))
  const listeners = new Set<() => void>()
  const start = (...argv: string[]) => {
    const stdout = textBench()
    const stderr = textBench()
    const around = { PATH: process.env['PATH'] ?? '', KNOVARYN_STORE: `sqlite:${join(folder, 'store')}`, ...env }
    const shell: Shell = {
      ...{ program: 'knovaryn', env: around, stdout, stderr, exitNow: () => {} },
      onSignal(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    }
    const open: Parameters<typeof runCli>[1]['open'] = (config, log) => openWorkplace(config, { env: around, log })
    const code = runCli(argv, { version: '0.0.0', shell, open, connect: () => Promise.reject(new Error('there is no server')) })
    return { stderr: stderr.text, ended: code.then((ended) => ({ code: ended, stdout: stdout.text(), stderr: stderr.text() })) }
  }
  const run = (...argv: string[]) => start(...argv).ended
  const at = (name: string): string => join(folder, name)
  return { start, run, at, batch: [at('p.jsonl'), ...offline], interrupt: () => listeners.forEach((listener) => listener()) }
}

describe('run', () => {
  test('tells the webhook of the job it has brought to its end, signed, with the document that it shows', async () => {
    const { url, received } = await webhookReceiver()
    const { run, batch } = bench({ KNOVARYN_WEBHOOK_SECRET: secret })
    const { code, stdout, stderr } = await run('run', ...batch, '--webhook', url, '--json')
    expect(code).toBe(0)
    expect(stderr).not.toMatch(/warn|error/)
    expect(received).toHaveLength(1)
    const { headers = {}, body = '' }: Partial<Received> = received[0] ?? {}
    expect(JSON.parse(body)).toMatchObject({ type: 'job.succeeded', data: { ...JSON.parse(stdout), existing: true } })
    const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
    const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
    expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  })

  test('tells it again, by the same id, when it is run again', async () => {
    const { url, received } = await webhookReceiver()
    const { run, batch } = bench({ KNOVARYN_WEBHOOK: url })
    for (const _ of [1, 2]) expect(await run('run', ...batch)).toMatchObject({ code: 0 })
    expect(received).toHaveLength(2)
    expect(received[1]?.headers['webhook-id']).toBe(received[0]?.headers['webhook-id'])
    expect(received[1]?.body).toBe(received[0]?.body)
  })

  test('says once that a webhook is not signed', async () => {
    const { url } = await webhookReceiver()
    const { run, batch } = bench()
    const { stderr } = await run('run', ...batch, '--webhook', url)
    expect(stderr.match(/not signed: no secret is given by KNOVARYN_WEBHOOK_SECRET/g)).toHaveLength(1)
  })

  test('runs the command once the results are where they belong, without keys and secrets', async () => {
    const env = { KNOVARYN_WEBHOOK_SECRET: secret, OPENAI_API_KEY: 'sk-openai', ANTHROPIC_API_KEY: 'sk-anthropic', OWN_KEY: 'own-key', GREETING: 'hello' }
    const { run, at, batch } = bench(env)
    writeFileSync(at('config.json'), JSON.stringify({ onEnd: `env > ${at('env')}; cp ${at('out')}/results.jsonl ${at('copy')}`, providers: { mine: { baseUrl: 'http://127.0.0.1:9', apiKeyEnv: 'OWN_KEY' } } }))
    expect(await run('run', ...batch, '--out', at('out'), '--config', at('config.json'))).toMatchObject({ code: 0 })
    expect(readFileSync(at('copy'), 'utf8')).toBe(readFileSync(`${at('out')}/results.jsonl`, 'utf8'))
    const seen = readFileSync(at('env'), 'utf8')
    expect(seen).toContain('GREETING=hello')
    expect(seen).toContain('KNOVARYN_JOB_STATE=succeeded')
    expect(seen).not.toMatch(/sk-openai|sk-anthropic|own-key|whsec_/)
  })

  test('exits as the job ended, and says what could not be told, where that is not waited for', async () => {
    const { url, arrivals } = await webhookReceiver((response) => void response.writeHead(503, { 'retry-after': '30' }).end())
    const { start, batch, interrupt } = bench()
    const { ended, stderr } = start('run', ...batch, '--max-calls', '1', '--allow-over-budget', '--webhook', url)
    await arrivals(1)
    await until('the first try to be told', () => stderr().includes('again in'))
    interrupt()
    const { code, stderr: said } = await ended
    expect(code).toBe(3)
    expect(said).toMatch(/warn: webhook http:\/\/127\.0\.0\.1:\d+ could not be told of job \w+ \(job\.paused\): answered 503; again in/)
    expect(said).toContain('it is not tried again')
    expect(said).not.toContain('t0ken')
  })

  test('does not wait for longer than a minute for who asks for more', async () => {
    const { url } = await webhookReceiver((response) => void response.writeHead(503, { 'retry-after': '61' }).end())
    const { run, batch } = bench()
    const { code, stderr } = await run('run', ...batch, '--webhook', url)
    expect(code).toBe(0)
    expect(stderr).toMatch(/could not be told .* answered 503; it is not tried again/)
  })
})

test('submit --wait tells of the end to which a worker has brought the job, and the worker tells whom it was given', async () => {
  const ofSubmit = await webhookReceiver()
  const { start, run, at, batch } = bench()
  const waiting = start('submit', ...batch, '--wait', '--webhook', ofSubmit.url)
  await until('the submitted job', async () => (await run('job', 'list', '--json')).stdout.includes('"queued"'))
  expect(await run('worker', '--once', '--on-end', `cat > ${at('told')}`)).toMatchObject({ code: 0 })
  expect(await waiting.ended).toMatchObject({ code: 0 })
  expect(ofSubmit.received.map(({ body }) => JSON.parse(body).type)).toEqual(['job.succeeded'])
  expect(JSON.parse(readFileSync(at('told'), 'utf8'))).toMatchObject({ state: 'succeeded' })
})

test('submit alone tells nobody, and says who does', async () => {
  const { run, batch, at } = bench()
  const { code, stdout } = await run('submit', ...batch, '--on-end', `touch ${at('told')}`)
  expect(code).toBe(0)
  expect(stdout).toContain('Its end is told by')
  expect(existsSync(at('told'))).toBe(false)
})

test('a worker logs what its command put out, and that it was told', async () => {
  const { run, batch } = bench()
  await run('submit', ...batch)
  const { stderr } = await run('worker', '--once', '--on-end', 'echo thank you')
  expect(stderr).toMatch(/info {2}command was told of job \w+ \(job\.succeeded\): thank you/)
})

test.each([
  ['--webhook', 'ftp://hooks.example/x', 'an http:// or https:// address'],
  ['--webhook', 'https://user:pa55word@hooks.example/x', 'without a user or password'],
  ['--on-end', ' ', 'a command'],
])('%s %j is refused before anything is opened, and an address is not repeated', async (option, value, rule) => {
  const { run, batch, at } = bench()
  const { code, stderr } = await run('run', ...batch, option, value)
  expect(code).toBe(2)
  expect(stderr).toContain(`${option} must be ${rule.startsWith('without') ? 'an http:// or https:// address without a user or password' : rule}`)
  expect(stderr).not.toMatch(/pa55word|hooks\.example/)
  expect(existsSync(at('store'))).toBe(false)
})

test('a secret that cannot be read stops a worker before it works, and is not shown', async () => {
  const { run, batch } = bench({ KNOVARYN_WEBHOOK_SECRET: 'whsec_not base64' })
  await run('submit', ...batch)
  const { code, stderr } = await run('worker', '--once', '--webhook', 'http://127.0.0.1:9/x')
  expect(code).toBe(2)
  expect(stderr).not.toContain('not base64')
  expect((await run('job', 'list', '--json')).stdout).toContain('"queued"')
})

test('the doctor knows the variable of the secret', async () => {
  const { run } = bench({ KNOVARYN_WEBHOOK_SECRET: secret })
  const { stdout } = await run('doctor')
  expect(stdout).not.toContain('KNOVARYN_WEBHOOK_SECRET')
})
