import { cpSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { isTerminal, stageAtWork } from '../../domain/job/job.ts'
import { nanoUsd, type Usd } from '../../domain/money.ts'
import { demoPrices, model, providerName } from '../../server/cli/demo/demoSetting.ts'
import { randomFrom } from '../contract/seededRandom.ts'
import { temporaryFolder } from '../contract/temporaryFolder.ts'
import { filesUnder, spansOf } from '../support/datasetFiles.ts'
import { openLog } from '../support/killingLog.ts'
import { killAll, knovaryn, knovarynJson, startKnovaryn } from '../support/processes.ts'
import { startOfflineServer } from '../support/startOfflineServer.ts'
import { until } from '../support/until.ts'

/** The dataset job as people run it: documents of all formats, a provider over HTTP, processes that are killed. */

const seed = 20_261_202
const kills = 30
const shipped = fileURLToPath(new URL('../../server/cli/demo/documents', import.meta.url))

let folder: Awaited<ReturnType<typeof temporaryFolder>>
let provider: Awaited<ReturnType<typeof startOfflineServer>>
const at = (...parts: readonly string[]): string => join(folder.path, ...parts)

beforeAll(async () => {
  folder = await temporaryFolder()
  provider = await startOfflineServer({ callLog: at('calls.jsonl'), latencyMs: 60, replaysForSeconds: 3_600 })
  cpSync(shipped, at('documents'), { recursive: true })
  await writeFile(at('prices.json'), JSON.stringify(demoPrices))
  const providers = { [providerName]: { baseUrl: provider.baseUrl, replaysForSeconds: 3_600 } }
  const set = { chunkTokens: 100 }
  await writeFile(
    at('config.json'),
    JSON.stringify({ type: 'dataset', provider: providerName, model, set, priceProfile: [at('prices.json')], providers }),
  )
})
afterEach(killAll)
afterAll(async () => {
  await provider.close()
  await folder.remove()
})

/** The options of every command on one store. */
const on = (store: string): readonly string[] => ['--store', `sqlite:${at(store)}`, '--config', at('config.json')]

/** Runs the dataset to its end, undisturbed, and answers where its files are. */
const madeIn = async (store: string, ...options: readonly string[]): Promise<string> => {
  const run = await knovaryn(['run', at('documents'), '--out', at(`${store}-out`), ...options, ...on(store)])
  expect(run, run.stderr).toMatchObject({ code: 0 })
  return at(`${store}-out`)
}

test('the same seed makes the same bytes, and another seed others', async () => {
  const [first, second] = [await madeIn('first'), await madeIn('second')]
  expect(filesUnder(second)).toEqual(filesUnder(first))
  const files = filesUnder(first)
  expect(Object.keys(files)).toEqual(expect.arrayContaining(['README.md', 'SHA256SUMS', 'manifest.json', 'quarantine.jsonl', 'train.jsonl']))
  const other = filesUnder(await madeIn('other', '--seed', '2'))
  expect(other['train.jsonl']).not.toBe(files['train.jsonl'])
})

test('every exported line quotes its source, letter for letter, in all five formats', async () => {
  const spans = spansOf(await madeIn('spans'))
  expect(new Set(spans.map(({ document }) => document.split('.').at(-1)))).toEqual(new Set(['md', 'txt', 'html', 'pdf', 'docx']))
  for (const { quote, slice } of spans) expect(slice).toBe(quote)
})

test(`seed ${seed}: a dataset whose workers are killed at ${kills} instants has the same bytes, and no answered call is made again`, async () => {
  const calm = filesUnder(await madeIn('calm'))
  const drawn = randomFrom(seed)
  const stages = new Map<string, number>()
  let killed = 0
  for (let round = 0; killed < kills; round += 1) {
    const store = `killed-${round}`
    const { jobId } = await knovarynJson<{ jobId: string }>(['submit', at('documents'), ...on(store)])
    const log = openLog(at(store))
    while (killed < kills && !isTerminal(log.job(jobId)?.state ?? 'queued')) {
      const worker = startKnovaryn(['worker', ...on(store)])
      if (drawn.below(6) > 0) await worker.line(/claimed job/)
      const [from, ms] = [performance.now(), drawn.below(700)]
      await until(`${ms} ms to pass`, () => performance.now() - from >= ms, { everyMs: 1 })
      await worker.kill()
      const job = log.job(jobId)
      const stage = (job === null ? null : stageAtWork(job)) ?? 'the end'
      stages.set(stage, (stages.get(stage) ?? 0) + 1)
      killed += 1
    }
    const left = await knovaryn(['run', at('documents'), '--out', at(`${store}-out`), ...on(store)])
    expect(left, left.stderr).toMatchObject({ code: 0 })
    expect(filesUnder(at(`${store}-out`))).toEqual(calm)
    const settled = new Set<string>()
    const fingerprints = new Map<number, string>()
    for (const event of log.events(jobId)) {
      if (event.type === 'ProviderCallReserved') {
        expect(settled).not.toContain(event.data.fingerprint)
        fingerprints.set(event.data.call, event.data.fingerprint)
      }
      if (event.type === 'ProviderCallSettled') settled.add(fingerprints.get(event.data.call) ?? '')
    }
    expect(await knovaryn(['job', 'audit', jobId, ...on(store)])).toMatchObject({ code: 0 })
    log.close()
  }
  console.log(`${killed} kills: ${[...stages].map(([stage, times]) => `${times} in ${stage}`).join(', ')}`)
})

test('the estimate’s worst case is never exceeded, and its expectation is within 25 % over five runs', async () => {
  for (const round of [1, 2, 3, 4, 5]) {
    const options = ['--seed', String(round), '--target', String(20 * round)]
    const estimate = await knovarynJson<{ total: { costUsd: { expected: Usd; worst: Usd } } }>([
      ...['estimate', at('documents'), ...options],
      ...on(`estimated-${round}`),
    ])
    await madeIn(`estimated-${round}`, ...options)
    const { items } = await knovarynJson<{ items: { jobId: string }[] }>(['job', 'list', ...on(`estimated-${round}`)])
    const job = await knovarynJson<{ budget: { spentCostUsd: Usd } }>(['job', 'status', items[0]!.jobId, ...on(`estimated-${round}`)])
    const spent = Number(nanoUsd(job.budget.spentCostUsd))
    const { expected, worst } = estimate.total.costUsd
    expect(spent).toBeLessThanOrEqual(Number(nanoUsd(worst)))
    expect(Math.abs(Number(nanoUsd(expected)) - spent) / spent).toBeLessThan(0.25)
    console.log(`round ${round}: ${expected} expected, ${worst} at worst, ${job.budget.spentCostUsd} spent`)
  }
})
