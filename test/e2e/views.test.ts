import { rmSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { isTerminal } from '../../domain/job/job.ts'
import { batchFolder, batchLines } from '../support/batchFiles.ts'
import { openLog } from '../support/killingLog.ts'
import { killAll, knovarynJson, startKnovaryn } from '../support/processes.ts'
import { startScriptedProvider } from '../support/scriptedProvider/startScriptedProvider.ts'
import { until } from '../support/until.ts'
import { answersAfter, batchOf, workplaceOn } from '../support/workplaceOn.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await killAll()
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

test('deleting views.db four times while two workers run loses nothing, and the views are equal to a fresh fold', async () => {
  const provider = await startScriptedProvider(answersAfter(40))
  const providers = { openai: { baseUrl: provider.baseUrl } }
  const folder = await batchFolder('', providers)
  const place = await workplaceOn(`sqlite:${folder.at('store')}`, { providers })
  const log = openLog(folder.at('store'))
  cleanups.push(provider.close, folder.remove, place.close, async () => log.close())
  const jobIds: string[] = []
  for (let each = 0; each < 12; each += 1) {
    const batch = batchOf(batchLines(10, `job ${each}`), provider.baseUrl, { concurrency: 2 })
    jobIds.push((await place.engine.submit(batch)).jobId)
  }
  for (const name of ['a', 'b']) {
    startKnovaryn(['worker', '--id', name, '--concurrency', '2', '--lease', '5', ...folder.store])
  }
  const settled = (): number => jobIds.reduce((sum, id) => sum + log.count(id, 'ProviderCallSettled'), 0)
  const ended = (): number => jobIds.filter((id) => isTerminal(log.job(id)?.state ?? 'queued')).length
  const deletedAt: number[] = []
  for (const threshold of [10, 35, 60, 85]) {
    await until(`${threshold} calls`, () => settled() >= threshold, { withinMs: 60_000 })
    for (const suffix of ['', '-wal', '-shm']) rmSync(folder.at(`store/views.db${suffix}`), { force: true })
    deletedAt.push(settled())
  }
  await until('all jobs to end', () => ended() === jobIds.length, { withinMs: 60_000 })
  for (const id of jobIds) {
    expect(log.job(id)?.state).toBe('succeeded')
    expect(log.count(id, 'JobLeased')).toBe(1)
  }
  const calls = await provider.calls()
  expect(calls.length).toBe(120)
  expect(new Set(calls.map((call) => call.idempotencyKey)).size).toBe(120)
  const list = await knovarynJson<{ items: { jobId: string; state: string }[] }>(['job', 'list', ...folder.store])
  expect(list.items.map((item) => item.jobId).sort()).toEqual([...jobIds].sort())
  const { items } = await knovarynJson<{ items: { name: string; equal: boolean }[] }>(['projections', 'verify', ...folder.store])
  expect(items.length).toBeGreaterThanOrEqual(3)
  expect(items.filter((item) => !item.equal)).toEqual([])
  console.log(`views.db deleted after ${deletedAt.join(', ')} of 120 calls: ${items.length} projections equal, no call repeated`)
})
