import { afterEach, expect, test } from 'vitest'
import type { JobDocument } from '../../domain/job/document.ts'
import { batchFolder, batchLines } from '../support/batchFiles.ts'
import { openLog } from '../support/killingLog.ts'
import { killAll, knovaryn, knovarynJson, startKnovaryn } from '../support/processes.ts'
import { startScriptedProvider } from '../support/scriptedProvider/startScriptedProvider.ts'
import { until } from '../support/until.ts'
import { answersAfter } from '../support/workplaceOn.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await killAll()
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

const lineCount = 20
const affordable = 12

const bench = async () => {
  const provider = await startScriptedProvider(answersAfter(20))
  const folder = await batchFolder(batchLines(lineCount), { openai: { baseUrl: provider.baseUrl } })
  cleanups.push(provider.close, folder.remove)
  const batch = [...folder.batch, '--concurrency', '4', '--budget-usd', '1.00']
  const status = (jobId: string): Promise<JobDocument> => knovarynJson<JobDocument>(['job', 'status', jobId, ...folder.store])
  const prompts = async (): Promise<readonly string[]> => (await provider.calls()).map((call) => call.prompt)
  return { provider, folder, batch, status, prompts }
}

const exhausted = {
  state: 'paused',
  errorCode: 'budget_exhausted',
  budget: { spentCostUsd: '0.96', heldCostUsd: '0', reservedCostUsd: '0', callsMade: affordable },
}
const finished = { state: 'succeeded', budget: { spentCostUsd: '1.6', callsMade: lineCount, maximumCostUsd: '2' } }

/** At no revision is more spent, held and reserved than the limit then in force. */
const expectWithinLimitAlways = async (jobId: string, store: string[]): Promise<void> => {
  const audited = await knovaryn(['job', 'audit', jobId, ...store])
  expect(audited, audited.stdout + audited.stderr).toMatchObject({ code: 0 })
}

test('O-08: a budget of 1.00 admits exactly 12 of 20 calls of 0.10 at worst and 0.08 in fact, four at a time; 2 admits the rest', async () => {
  const { folder, batch, status, prompts } = await bench()
  const ran = await knovaryn(['run', ...batch, '--json'])
  expect(ran, ran.stderr).toMatchObject({ code: 3 })
  const job = JSON.parse(ran.stdout) as JobDocument
  expect(job).toMatchObject(exhausted)
  expect((await prompts()).length).toBe(affordable)

  // A restart changes nothing: nothing is due, and run again shows why it stands.
  expect(await knovaryn(['worker', '--once', ...folder.store])).toMatchObject({ code: 0 })
  expect(await knovaryn(['run', ...batch])).toMatchObject({ code: 3 })
  expect((await prompts()).length).toBe(affordable)

  expect(await knovaryn(['job', 'resume', job.jobId, '--budget-usd', '2', ...folder.store])).toMatchObject({ code: 0 })
  expect(await knovaryn(['worker', '--once', ...folder.store])).toMatchObject({ code: 0 })
  expect(await status(job.jobId)).toMatchObject(finished)
  const all = await prompts()
  expect(all.length).toBe(lineCount)
  expect(new Set(all).size).toBe(lineCount)
  await expectWithinLimitAlways(job.jobId, folder.store)
  console.log(`one worker: ${affordable} calls for 0.96 of 1.00, then ${all.length - affordable} for the rest of 2, no prompt twice`)
})

test('O-08: four workers with four jobs admit exactly 12 calls each under a budget of 1.00 each, and none twice', async () => {
  const { folder, batch, status, provider } = await bench()
  const workers = Array.from({ length: 4 }, (_, index) =>
    startKnovaryn(['worker', '--id', `w${index}`, '--concurrency', '1', '--lease', '10', ...folder.store]),
  )
  const jobs = await Promise.all(
    Array.from({ length: 4 }, (_, index) => knovarynJson<JobDocument>(['submit', ...batch, '--key', `job-${index}`])),
  )
  const log = openLog(folder.at('store'))
  cleanups.push(async () => log.close())
  const inState = (state: string): boolean => jobs.every((job) => log.job(job.jobId)?.state === state)
  await until('all four to pause', () => inState('paused'))
  for (const job of jobs) expect(await status(job.jobId)).toMatchObject(exhausted)
  expect((await provider.calls()).length).toBe(4 * affordable)

  for (const job of jobs) {
    expect(await knovaryn(['job', 'resume', job.jobId, '--budget-usd', '2', ...folder.store])).toMatchObject({ code: 0 })
  }
  await until('all four to succeed', () => inState('succeeded'))
  for (const worker of workers) worker.signal('SIGTERM')
  for (const worker of workers) expect(await worker.exited).toMatchObject({ code: 0 })
  const owners = new Set(
    jobs.flatMap((job) => log.events(job.jobId).flatMap((event) => (event.type === 'JobLeased' ? [event.data.owner] : []))),
  )
  for (const job of jobs) {
    expect(await status(job.jobId)).toMatchObject(finished)
    await expectWithinLimitAlways(job.jobId, folder.store)
  }
  const keys = (await provider.calls()).map((call) => call.idempotencyKey)
  expect(keys.length).toBe(4 * lineCount)
  expect(new Set(keys).size).toBe(4 * lineCount)
  console.log(`four workers: ${4 * affordable} calls for 3.84 of 4.00, then ${4 * (lineCount - affordable)} more, by ${[...owners].sort().join(', ')}`)
})
