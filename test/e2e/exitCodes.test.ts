import { writeFile } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JobDocument } from '../../domain/job/document.ts'
import { batchFolder, type BatchFolder, batchLines } from '../support/batchFiles.ts'
import { killAll, knovaryn, knovarynJson, startKnovaryn } from '../support/processes.ts'
import type { Script } from '../support/scriptedProvider/script.ts'
import { type ScriptedProvider, startScriptedProvider } from '../support/scriptedProvider/startScriptedProvider.ts'
import { until } from '../support/until.ts'
import { answersAfter } from '../support/workplaceOn.ts'

let provider: ScriptedProvider
let folder: BatchFolder

beforeEach(async () => {
  provider = await startScriptedProvider(answersAfter(5))
  folder = await batchFolder(batchLines(10), { openai: { baseUrl: provider.baseUrl } })
})
afterEach(async () => {
  await killAll()
  await provider.close()
  await folder.remove()
})

const jobOf = (stdout: string): JobDocument => JSON.parse(stdout) as JobDocument
const submitted = (...more: string[]): Promise<JobDocument> => knovarynJson<JobDocument>(['submit', ...folder.batch, ...more])

const refusing: Script = answersAfter(5, { rules: [{ answer: { status: 401 } }] })
const slow: Script = answersAfter(400)

/** Each way a job can end, and how it gets there. */
const outcomes = [
  { way: 'succeeds', state: 'succeeded', code: 0, script: answersAfter(5), more: [], steer: null },
  { way: 'fails', state: 'failed', code: 1, script: refusing, more: [], steer: null },
  { way: 'exhausts its budget', state: 'paused', code: 3, script: answersAfter(5), more: ['--budget-usd', '0.35'], steer: null },
  { way: 'is paused', state: 'paused', code: 3, script: slow, more: [], steer: 'pause' },
  { way: 'is cancelled', state: 'cancelled', code: 4, script: slow, more: [], steer: 'cancel' },
] as const

test.each(outcomes)('OX-15: submit --wait of a job that $way exits with $code, with and without --json', async (outcome) => {
  const { state, code, script, more, steer } = outcome
  await provider.setScript(script)
  const json = startKnovaryn(['submit', ...folder.batch, ...more, '--wait', '--json'])
  const text = startKnovaryn(['submit', ...folder.batch, ...more, '--wait'])
  const worker = startKnovaryn(['worker', '--concurrency', '1', ...folder.store])
  if (steer !== null) {
    await until('a first call', async () => (await provider.calls()).length > 0)
    const { jobId } = await submitted(...more)
    expect(await knovaryn(['job', steer, jobId, ...folder.store])).toMatchObject({ code: 0 })
  }
  expect(await json.exited, json.stderr()).toMatchObject({ code })
  expect(await text.exited, text.stderr()).toMatchObject({ code })
  expect(jobOf(json.stdout())).toMatchObject({ state })
  // Asked once more, whoever runs it is told the same.
  worker.signal('SIGTERM')
  expect(await worker.exited).toMatchObject({ code: 0 })
  const again = await knovaryn(['run', ...folder.batch, ...more, '--json'])
  expect(again, again.stderr).toMatchObject({ code })
  expect(jobOf(again.stdout)).toMatchObject({ state })
})

test('OX-15: a command line that is wrong exits with 2, and a store that cannot be used with a code other than 0', async () => {
  for (const json of [[], ['--json']]) {
    expect(await knovaryn(['submit', ...folder.batch, '--budget-usd', 'plenty', ...json])).toMatchObject({ code: 2 })
    expect(await knovaryn(['submit', ...folder.batch, '--no-such-option', ...json])).toMatchObject({ code: 2 })
    expect(await knovaryn(['job', 'status', '0123', ...folder.store, ...json])).toMatchObject({ code: 2 })
  }
  await writeFile(folder.at('a-file'), 'no folder')
  const { code } = await knovaryn(['submit', ...folder.batch, '--store', `sqlite:${folder.at('a-file')}`])
  expect([2, 5]).toContain(code)
})

test('OX-16: run again after a kill it goes on with the same job, and another configuration is another job or refused', async () => {
  await provider.setScript(answersAfter(150))
  const first = startKnovaryn(['run', ...folder.batch, '--concurrency', '1'])
  await until('unit 6 to be done', async () => (await provider.calls()).filter((call) => call.answeredAt !== null).length >= 6)
  await until('unit 7 to be asked', async () => (await provider.calls()).length >= 7)
  await first.kill()
  const before = (await provider.calls()).length
  const again = await knovaryn(['run', ...folder.batch, '--concurrency', '1', '--json'])
  expect(again, again.stderr).toMatchObject({ code: 0 })
  const job = jobOf(again.stdout)
  const calls = await provider.calls()
  const held = Number(job.budget.heldCostUsd) / 0.1
  expect(calls.length - before).toBeLessThanOrEqual(4)
  expect(calls.length).toBe(10 + Math.round(held))
  expect(job.budget.spentCostUsd).toBe('0.8')
  expect((await knovarynJson<{ items: unknown[] }>(['job', 'list', ...folder.store])).items.length).toBe(1)

  const other = await submitted('--max-output-tokens', '99')
  expect(other.existing).toBe(false)
  expect(other.jobId).not.toBe(job.jobId)
  const mixed = await knovaryn(['submit', ...folder.batch, '--max-output-tokens', '98', '--key', job.idempotencyKey, '--json'])
  expect(mixed).toMatchObject({ code: 2 })
  expect(mixed.stderr + mixed.stdout).toContain(job.jobId)
  console.log(`OX-16: killed after ${before} calls, ${calls.length - before} more by the same command, ${Math.round(held)} held`)
})

test('OX-19: submit and run of a key whose job has failed say so, and name the retry', async () => {
  await provider.setScript(refusing)
  const key = ['--key', 'K']
  expect(await knovaryn(['run', ...folder.batch, ...key])).toMatchObject({ code: 1 })
  const calls = (await provider.calls()).length
  const shown = await submitted(...key)
  expect(shown).toMatchObject({ existing: true, state: 'failed', errorCode: 'provider_auth' })
  const ran = await knovaryn(['run', ...folder.batch, ...key])
  expect(ran).toMatchObject({ code: 1 })
  expect(ran.stdout + ran.stderr).toContain(`job retry`)
  expect((await provider.calls()).length).toBe(calls)
  await provider.setScript(answersAfter(5))
  expect(await knovaryn(['job', 'retry', shown.jobId, ...folder.store])).toMatchObject({ code: 0 })
  expect(await knovaryn(['worker', '--once', ...folder.store])).toMatchObject({ code: 0 })
  expect(await knovaryn(['run', ...folder.batch, ...key])).toMatchObject({ code: 0 })
})
