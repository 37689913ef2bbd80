import { afterEach, expect, test } from 'vitest'
import { batchFolder, batchLines } from '../support/batchFiles.ts'
import { openLog } from '../support/killingLog.ts'
import { killAll, startKnovaryn, startOwnWorker } from '../support/processes.ts'
import { startScriptedProvider } from '../support/scriptedProvider/startScriptedProvider.ts'
import { until } from '../support/until.ts'
import { answersAfter, batchOf, workplaceOn } from '../support/workplaceOn.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await killAll()
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

test('O-21: a worker that is told to go amid a long call hands the job over before its grace ends, and no attempt is lost', async () => {
  const provider = await startScriptedProvider(
    answersAfter(20, { rules: [{ when: { call: 2 }, times: 1, answer: { delayMs: 8_000 } }] }),
  )
  const providers = { openai: { baseUrl: provider.baseUrl } }
  const folder = await batchFolder('', providers)
  const store = `sqlite:${folder.at('store')}`
  const place = await workplaceOn(store, { providers })
  const log = openLog(folder.at('store'))
  cleanups.push(provider.close, folder.remove, place.close, async () => log.close())
  const { jobId } = await place.engine.submit(batchOf(batchLines(3), provider.baseUrl, { concurrency: 1 }))

  const graceMs = 3_000
  const told = { config: { store, providers }, work: { workerId: 'first', leaseMs: 60_000, drainMs: graceMs } }
  const first = startOwnWorker(told)
  await until('call 2', async () => (await provider.calls()).length === 2)
  const second = startKnovaryn(['worker', '--id', 'second', ...folder.store])
  await until('the second worker to be there', async () => (await place.engine.projections()).length > 0)
  const other = await place.engine.submit(batchOf(batchLines(1, 'other'), provider.baseUrl))
  await until('the second worker to work', () => log.job(other.jobId)?.state === 'succeeded')

  const terminatedAt = performance.now()
  first.signal('SIGTERM')
  await first.line(/draining/)
  const late = await place.engine.submit(batchOf(batchLines(1, 'late'), provider.baseUrl))
  await until('the release', () => log.count(jobId, 'LeaseReleased') === 1)
  const releasedAfter = performance.now() - terminatedAt
  await until('the takeover', () => log.job(jobId)?.lease?.owner === 'second')
  const takenAfter = performance.now() - terminatedAt - releasedAfter
  expect(await first.exited).toEqual({ code: 0, signal: null })
  const exitedAfter = performance.now() - terminatedAt
  await until('the end', () => log.job(jobId)?.state === 'succeeded')

  expect(releasedAfter).toBeLessThan(graceMs)
  expect(takenAfter).toBeLessThan(2_000)
  expect(log.events(late.jobId).flatMap((event) => (event.type === 'JobLeased' ? [event.data.owner] : []))).toEqual(['second'])
  const calls = (await provider.calls()).filter((call) => call.idempotencyKey?.startsWith(jobId))
  expect(calls.map((call) => call.prompt.replace(/\D/g, ''))).toEqual(['0', '1', '1', '2'])
  const ledger = await place.engine.ledger(jobId)
  expect(ledger.lines.map((line) => line.state)).toEqual(['settled', 'held', 'settled', 'settled'])
  const failed = log.events(jobId).filter((event) => event.type === 'ProviderCallFailed')
  expect(failed.map((event) => event.data.billed)).toEqual(['unknown'])
  const job = log.job(jobId)
  expect(job).toMatchObject({ attemptCount: 1, lostLeaseCount: 0, error: null })
  expect(log.count(jobId, 'LeaseExpired')).toBe(0)
  second.signal('SIGTERM')
  expect(await second.exited).toMatchObject({ code: 0 })
  console.log(
    `O-21: released ${Math.round(releasedAfter)} ms after SIGTERM (grace ${graceMs}), taken over ${Math.round(takenAfter)} ms ` +
      `later, exit 0 after ${Math.round(exitedAfter)} ms; ${calls.length} sends, one held`,
  )
})
