import Driver from 'better-sqlite3'
import { afterEach, expect, test } from 'vitest'
import { isTerminal } from '../../domain/job/job.ts'
import { batchFolder, batchLines } from '../support/batchFiles.ts'
import { openLog } from '../support/killingLog.ts'
import { killAll, knovaryn, startKnovaryn, startLockHolder } from '../support/processes.ts'
import type { Script } from '../support/scriptedProvider/script.ts'
import { startScriptedProvider } from '../support/scriptedProvider/startScriptedProvider.ts'
import { until } from '../support/until.ts'
import { answersAfter, batchOf, workplaceOn } from '../support/workplaceOn.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await killAll()
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

/** The store waits five seconds for a lock before it says that it cannot. */
const longerThanPatienceMs = 8_000

const bench = async (script: Script) => {
  const provider = await startScriptedProvider(script)
  const providers = { openai: { baseUrl: provider.baseUrl } }
  const folder = await batchFolder('', providers)
  const place = await workplaceOn(`sqlite:${folder.at('store')}`, { providers })
  const log = openLog(folder.at('store'))
  cleanups.push(provider.close, folder.remove, place.close, async () => log.close())
  const startWorker = (...more: string[]) => startKnovaryn(['worker', '--lease', '2', ...more, ...folder.store])
  const hasEnded = (id: string): boolean => isTerminal(log.job(id)?.state ?? 'queued')
  const lock = (forMs: number, times = 1) => startLockHolder(folder.at('store/log.db'), forMs, times)
  return { provider, folder, place, log, startWorker, hasEnded, lock }
}

test('O-04: a job whose last writes meet a store that is locked for long succeeds once, and its calls are not repeated', async () => {
  const { provider, place, log, startWorker, hasEnded, lock } = await bench(
    answersAfter(5, { rules: [{ when: { call: 3 }, answer: { delayMs: 2_500 } }] }),
  )
  const { jobId } = await place.engine.submit(batchOf(batchLines(3), provider.baseUrl, { concurrency: 1 }))
  const worker = startWorker()
  await until('the last call', async () => (await provider.calls()).length === 3)
  const holder = lock(longerThanPatienceMs)
  await holder.line(/locked/)
  await until('the last answer', async () => (await provider.calls())[2]?.answeredAt)
  expect(hasEnded(jobId)).toBe(false)
  const asked = performance.now()
  expect(await place.engine.status(jobId)).toMatchObject({ state: 'running', budget: { callsMade: 3 } })
  const statusMs = performance.now() - asked
  await holder.line(/released/)
  const since = performance.now()
  await until('the end', () => hasEnded(jobId))
  const afterMs = performance.now() - since
  expect(log.job(jobId)?.state).toBe('succeeded')
  expect(log.count(jobId, 'JobSucceeded')).toBe(1)
  expect(log.count(jobId, 'JobLeased')).toBe(1)
  expect((await provider.calls()).length).toBe(3)
  expect(afterMs).toBeLessThan(7_000)
  expect(statusMs).toBeLessThan(2_000)
  console.log(
    `O-04: locked for ${longerThanPatienceMs} ms, succeeded ${Math.round(afterMs)} ms later; status took ${Math.round(statusMs)} ms meanwhile`,
  )
  expect(worker.hasExited()).toBe(false)
})

test('O-05: a job that waits for its next try gets it although the store was locked when its time came', async () => {
  const { provider, place, log, startWorker, hasEnded, lock } = await bench(
    answersAfter(5, { rules: [{ when: { call: 1 }, answer: { status: 503, headers: { 'retry-after-ms': '5100' } } }] }),
  )
  const { jobId } = await place.engine.submit(batchOf(batchLines(1), provider.baseUrl))
  const worker = startWorker()
  await until('the wait', () => log.job(jobId)?.state === 'retry_wait')
  // Its time comes after 5.1 to 7.7 s, and then the store's patience is used up once before the lock is free.
  const holder = lock(13_500)
  await holder.line(/locked/)
  expect(log.job(jobId)?.state).toBe('retry_wait')
  await holder.line(/released/)
  const since = performance.now()
  await until('the end', () => hasEnded(jobId))
  const afterMs = performance.now() - since
  expect(log.job(jobId)?.state).toBe('succeeded')
  expect(log.count(jobId, 'JobStarted')).toBe(2)
  expect((await provider.calls()).length).toBe(2)
  expect(afterMs).toBeLessThan(5_000)
  const errors = worker.stderr().split('\n').filter((line) => / error /.test(line))
  expect(errors.length).toBe(1)
  expect(worker.hasExited()).toBe(false)
  console.log(`O-05: tried again ${Math.round(afterMs)} ms after the store was free; ${errors.length} errors logged`)
})

test('OX-18: a writer and a long reader beside the workers let no busy error through, and nothing is written twice', async () => {
  const { provider, folder, place, log, startWorker, hasEnded, lock } = await bench(answersAfter(5))
  const { jobId } = await place.engine.submit(batchOf(batchLines(60), provider.baseUrl, { concurrency: 4 }))
  const snapshot = new Driver(folder.at('store/log.db'), { readonly: true })
  snapshot.exec('BEGIN')
  snapshot.prepare('SELECT count(*) FROM events').get()
  const workers = [startWorker(), startWorker()]
  const holder = lock(150, 40)
  await holder.line(/locked/)
  const asked: string[] = []
  while (!hasEnded(jobId) && asked.length < 40) {
    const each = await place.engine.submit(batchOf(batchLines(1, `beside ${asked.length}`), provider.baseUrl))
    asked.push(each.jobId)
    await place.engine.status(jobId)
  }
  expect(await knovaryn(['job', 'list', ...folder.store])).toMatchObject({ code: 0 })
  expect(await knovaryn(['job', 'status', jobId, ...folder.store])).toMatchObject({ code: 0 })
  await until('all to end', () => [jobId, ...asked].every(hasEnded), { withinMs: 60_000 })
  snapshot.exec('ROLLBACK')
  snapshot.close()
  for (const id of [jobId, ...asked]) expect(log.job(id)?.state).toBe('succeeded')
  const keys = (await provider.calls()).map((call) => call.idempotencyKey)
  expect(keys.length).toBe(60 + asked.length)
  expect(new Set(keys).size).toBe(keys.length)
  for (const worker of workers) expect(worker.stderr()).not.toMatch(/ error |SQLITE_BUSY/)
  expect((await place.engine.verifyLog()).findings).toEqual([])
  console.log(`OX-18: ${keys.length} calls and ${asked.length} submits beside a lock of 150 ms again and again, no busy error`)
})
