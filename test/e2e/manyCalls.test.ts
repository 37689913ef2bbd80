import { afterEach, expect, test } from 'vitest'
import { sqliteStore } from '../../adapters/sqlite/sqliteStore.ts'
import { systemClock } from '../../adapters/system/systemClock.ts'
import { nanoUsd, usd } from '../../domain/money.ts'
import type { JobDocument } from '../../domain/job/document.ts'
import { JobSpend, spend, sumSpend } from '../../projections/spend.ts'
import { batchFolder, batchLines } from '../support/batchFiles.ts'
import { openLog } from '../support/killingLog.ts'
import { killAll, knovarynJson } from '../support/processes.ts'
import { startScriptedProvider } from '../support/scriptedProvider/startScriptedProvider.ts'
import { batchOf, workplaceOn } from '../support/workplaceOn.ts'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await killAll()
  for (const clean of cleanups.splice(0).reverse()) await clean()
})

const tokens = 3_230
const affordable = 10_000
const halfAMicroDollarAToken = {
  id: 'half-a-micro-dollar-a-token',
  effectiveFrom: '2020-01-01',
  provider: 'openai',
  models: { scripted: { inputPerMTok: '0', cachedInputPerMTok: '0', outputPerMTok: '0.5' } },
}

test('O-09: 10 000 calls at 0.001615 cost exactly 16.15 in every view, and the next one is refused', async () => {
  const provider = await startScriptedProvider({ default: { usage: { prompt_tokens: 10, completion_tokens: tokens } } })
  const folder = await batchFolder('')
  const place = await workplaceOn(`sqlite:${folder.at('store')}`)
  const log = openLog(folder.at('store'))
  cleanups.push(provider.close, folder.remove, place.close, async () => log.close())
  const { engine } = place
  const { jobId } = await engine.submit(
    batchOf(batchLines(affordable + 1), provider.baseUrl, {
      concurrency: 64,
      parameters: { maxOutputTokens: tokens },
      priceProfiles: [halfAMicroDollarAToken],
      limits: { maximumCostUsd: '16.15', maximumCalls: null },
    }),
  )
  await place.work({ once: true }, new AbortController().signal)

  expect(await engine.status(jobId)).toMatchObject({
    state: 'paused',
    errorCode: 'budget_exhausted',
    actualCostUsd: '16.15',
    budget: { spentCostUsd: '16.15', callsMade: affordable, reservedCostUsd: '0', heldCostUsd: '0' },
  })
  expect((await provider.stats()).received).toBe(affordable)
  const [listed] = (await engine.list({})).items
  expect(listed).toMatchObject({ jobId, spentCostUsd: '16.15' })
  const ledger = await engine.ledger(jobId)
  expect(ledger.totals.spent).toMatchObject({ costUsd: '16.15', calls: affordable })
  expect(new Set(ledger.lines.map((line) => line.costUsd))).toEqual(new Set(['0.001615']))
  expect(usd(ledger.lines.reduce((sum, line) => sum + nanoUsd(line.costUsd ?? usd(0n)), 0n))).toBe('16.15')
  const settled = log.events(jobId).filter((event) => event.type === 'ProviderCallSettled')
  expect(settled.length).toBe(affordable)
  expect(usd(settled.reduce((sum, event) => sum + nanoUsd(event.data.costUsd), 0n))).toBe('16.15')
  const stored = await sqliteStore(folder.at('store'), systemClock())
  const [document] = await stored.views.load(spend.name, spend.version, [jobId])
  await stored.close()
  const rows = sumSpend([JobSpend.parse(JSON.parse(document?.value ?? 'null'))])
  expect(usd(rows.reduce((sum, row) => sum + nanoUsd(row.costUsd), 0n))).toBe('16.15')
  expect(rows.reduce((sum, row) => sum + row.calls, 0)).toBe(affordable)
  const shown = await knovarynJson<JobDocument>(['job', 'status', jobId, ...folder.store])
  expect(shown.budget.spentCostUsd).toBe('16.15')
  console.log(`O-09: ${settled.length} calls at 0.001615 cost ${shown.budget.spentCostUsd} by status, list, ledger, spend, events and command line`)
}, 180_000)
