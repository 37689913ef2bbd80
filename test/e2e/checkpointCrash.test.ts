import { afterEach, expect, test } from 'vitest'
import { isTerminal } from '../../domain/job/job.ts'
import { randomFrom } from '../contract/seededRandom.ts'
import { batchFolder } from '../support/batchFiles.ts'
import { openLog } from '../support/killingLog.ts'
import { killAll, knovaryn, startKnovaryn } from '../support/processes.ts'
import { gatedJob, gatedJobModule } from '../support/processesGates.ts'
import { startScriptedProvider } from '../support/scriptedProvider/startScriptedProvider.ts'
import { until } from '../support/until.ts'
import { answersAfter, workplaceOn } from '../support/workplaceOn.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await killAll()
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

const seed = 1_444
const jobs = 20
/** `FULL=1`: the two hundred rounds of the casebook. */
const scale = process.env['FULL'] === '1' ? 5 : 1
const steps = 4 * scale
const killsMax = 40 * scale
const killsMin = 20 * scale

test(`O-22, seed ${seed}: workers killed while ${jobs} jobs write checkpoints of 3 MB leave whole checkpoints or none`, async () => {
  const provider = await startScriptedProvider(answersAfter(5))
  const providers = { openai: { baseUrl: provider.baseUrl } }
  const folder = await batchFolder('', providers)
  const { default: definition } = (await import(gatedJobModule)) as { default: never }
  const place = await workplaceOn(`sqlite:${folder.at('store')}`, { providers, definitions: [definition] })
  const log = openLog(folder.at('store'))
  cleanups.push(provider.close, folder.remove, place.close, async () => log.close())
  const jobIds: string[] = []
  for (let each = 0; each < jobs; each += 1) {
    const input = { folder: folder.path, calls: steps, checkpointBytes: 3 * 1_048_576 }
    const job = gatedJob(input, provider.baseUrl, { idempotencyKey: `job-${each}`, maxLostLeases: 1_000 })
    jobIds.push((await place.engine.submit(job)).jobId)
  }
  const drawn = randomFrom(seed)
  const hasEnded = (id: string): boolean => isTerminal(log.job(id)?.state ?? 'queued')
  const acknowledged = new Map<string, number>()
  let kills = 0
  while (kills < killsMax && !jobIds.every(hasEnded)) {
    const worker = startKnovaryn(['worker', '--concurrency', '3', '--jobs', gatedJobModule, ...folder.store])
    await Promise.race([worker.line(/reached checkpoint/), until('the end', () => jobIds.every(hasEnded))])
    const since = performance.now()
    const afterMs = drawn.below(80)
    await until(`${afterMs} ms to pass`, () => performance.now() - since >= afterMs, { everyMs: 1 })
    await worker.kill()
    kills += 1
    for (const id of jobIds) {
      const recorded = log.count(id, 'CheckpointRecorded')
      expect(recorded).toBeGreaterThanOrEqual(acknowledged.get(id) ?? 0)
      acknowledged.set(id, recorded)
    }
    if (kills % 10 === 0) expect((await place.engine.verifyLog()).findings).toEqual([])
  }
  const last = ['worker', '--once', '--jobs', gatedJobModule, ...folder.store]
  expect(await knovaryn(last)).toMatchObject({ code: 0 })
  const calls = await provider.calls()
  let held = 0
  for (const id of jobIds) {
    const job = log.job(id)
    expect(job?.state).toBe('succeeded')
    expect(log.count(id, 'CheckpointRecorded')).toBe(steps)
    expect(log.count(id, 'ProviderCallSettled')).toBe(steps)
    expect(log.count(id, 'CheckpointInvalidated')).toBe(0)
    const sends = calls.filter((call) => call.idempotencyKey?.startsWith(id)).length
    // Only what was in flight at a kill is sent again.
    expect(sends).toBeLessThanOrEqual(steps + (job?.money.held.calls ?? 0))
    held += job?.money.held.calls ?? 0
  }
  const { findings, artifacts } = await place.engine.verifyLog()
  expect(findings).toEqual([])
  console.log(
    `O-22: ${kills} kills among ${jobs * steps} checkpoints of 3 MB; ${artifacts} artifacts whole, ${calls.length} sends, ${held} held`,
  )
  expect(kills).toBeGreaterThanOrEqual(killsMin)
})
