import { existsSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { JobDocument } from '../../domain/job/document.ts'
import { batchFolder, type BatchFolder, batchLines } from '../support/batchFiles.ts'
import { killAll, knovaryn, knovarynJson, startKnovaryn } from '../support/processes.ts'
import { type ScriptedProvider, startScriptedProvider } from '../support/scriptedProvider/startScriptedProvider.ts'
import { until } from '../support/until.ts'
import { answersAfter } from '../support/workplaceOn.ts'

let provider: ScriptedProvider
let folder: BatchFolder

beforeEach(async () => {
  provider = await startScriptedProvider(answersAfter(5))
  folder = await batchFolder(batchLines(6), { openai: { baseUrl: provider.baseUrl } })
})
afterEach(async () => {
  await killAll()
  await provider.close()
  await folder.remove()
})

const run = (...more: string[]) => knovaryn(['run', ...folder.batch, ...more])
const callsMade = async (): Promise<number> => (await provider.calls()).length
const submitted = (): Promise<JobDocument> => knovarynJson<JobDocument>(['submit', ...folder.batch])

test('run again on a job that waits for a worker works it', async () => {
  const { jobId } = await submitted()
  const ran = await knovarynJson<JobDocument>(['run', ...folder.batch])
  expect(ran).toMatchObject({ jobId, state: 'succeeded' })
  expect(await callsMade()).toBe(6)
})

test('run again on a job that another worker is at follows it to its end and makes no call of its own', async () => {
  await provider.setScript(answersAfter(300))
  await submitted()
  startKnovaryn(['worker', ...folder.store])
  await until('a first call', async () => (await callsMade()) > 0)
  const ran = await knovarynJson<JobDocument>(['run', ...folder.batch])
  expect(ran).toMatchObject({ state: 'succeeded' })
  expect(await callsMade()).toBe(6)
})

test('run again on a job that has paused for its budget resumes it with a higher one, and else shows why', async () => {
  expect(await run('--budget-usd', '0.35', '--concurrency', '1')).toMatchObject({ code: 3 })
  const before = await callsMade()
  expect(before).toBeLessThan(6)
  for (const budget of ['0.35', '0.2']) {
    const again = await run('--budget-usd', budget, '--concurrency', '1')
    expect(again, again.stderr).toMatchObject({ code: 3 })
    expect(again.stdout + again.stderr).toMatch(/budget/i)
  }
  expect(await callsMade()).toBe(before)
  expect(await run('--budget-usd', '1', '--concurrency', '1')).toMatchObject({ code: 0 })
  expect(await callsMade()).toBe(6)
})

test('run again on a job that was cancelled exits with 4 and names the option that makes another job', async () => {
  const { jobId } = await submitted()
  expect(await knovaryn(['job', 'cancel', jobId, ...folder.store])).toMatchObject({ code: 0 })
  const again = await run()
  expect(again).toMatchObject({ code: 4 })
  expect(again.stdout + again.stderr).toContain('--key')
  expect(await callsMade()).toBe(0)
  expect(await run('--key', 'another')).toMatchObject({ code: 0 })
  expect(await callsMade()).toBe(6)
})

test('run again on a job that has succeeded fills its folder again, byte for byte, and pays nothing', async () => {
  const out = folder.at('out')
  const results = folder.at('out/results.jsonl')
  expect(await run('--out', out)).toMatchObject({ code: 0 })
  const first = await readFile(results, 'utf8')
  await rm(out, { recursive: true })
  expect(await run('--out', out)).toMatchObject({ code: 0 })
  expect(existsSync(results)).toBe(true)
  expect(await readFile(results, 'utf8')).toBe(first)
  expect(first.trimEnd().split('\n').length).toBe(6)
  expect(await callsMade()).toBe(6)
})

test('submit of a job that is there changes nothing about it, and shows its state and stored limits', async () => {
  const first = await knovarynJson<JobDocument>(['submit', ...folder.batch, '--budget-usd', '2'])
  const again = await knovarynJson<JobDocument>(['submit', ...folder.batch, '--budget-usd', '9'])
  expect(again).toMatchObject({
    jobId: first.jobId,
    existing: true,
    state: 'queued',
    revision: first.revision,
    budget: { maximumCostUsd: '2' },
  })
})
