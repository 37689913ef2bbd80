import { afterAll, afterEach, expect, test } from 'vitest'
import { nanoUsd } from '../../domain/money.ts'
import { randomFrom } from '../contract/seededRandom.ts'
import { batchFolder, batchLines } from '../support/batchFiles.ts'
import { killWorkers, type Killed, killsText } from '../support/killing.ts'
import { openLog } from '../support/killingLog.ts'
import { killAll, knovaryn, knovarynJson, startKnovaryn } from '../support/processes.ts'
import { startScriptedProvider } from '../support/scriptedProvider/startScriptedProvider.ts'
import type { SeenCall } from '../support/scriptedProvider/script.ts'
import { answersAfter, batchOf, resultsOf, workplaceOn } from '../support/workplaceOn.ts'

const seed = 20_261_201
const lineCount = 200
/** With each kind of provider. */
const kills = 100
/** Of all kills together. */
const withOpenMin = 120
const maximumCalls = lineCount + 60 * 8
const lines = batchLines(lineCount)
const allKilled: Killed[] = []

afterEach(killAll)

const cleanups: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const clean of cleanups.splice(0)) await clean()
})

/** Works batches of 200 calls, killing as it goes, until all kills are spent; then lets the last one finish. */
const batchesUnderFire = async (replays: boolean) => {
  const provider = await startScriptedProvider(answersAfter(60, { replay: replays }))
  const providers = { openai: { baseUrl: provider.baseUrl, ...(replays ? { replaysForSeconds: 3_600 } : {}) } }
  const folder = await batchFolder(lines, providers)
  const place = await workplaceOn(`sqlite:${folder.at('store')}`, { providers })
  const log = openLog(folder.at('store'))
  cleanups.push(provider.close, folder.remove, place.close, async () => log.close())

  const drawn = randomFrom(seed + Number(replays))
  let audited = 0
  const killed: Killed[] = []
  const jobIds: string[] = []
  while (killed.length < kills) {
    const key = `round-${jobIds.length}`
    const limits = { maximumCostUsd: '1000' as never, maximumCalls }
    const { jobId } = await place.engine.submit(
      batchOf(lines, provider.baseUrl, { idempotencyKey: key, concurrency: 8, maxLostLeases: 1_000, limits }),
    )
    jobIds.push(jobId)
    killed.push(
      ...(await killWorkers({ jobId, log }, drawn, {
        kills: kills - killed.length,
        withinMs: 300,
        start: () => startKnovaryn(['worker', '--concurrency', '1', ...folder.store]),
        answeredByProvider: async () => (await provider.calls()).filter((call) => call.answeredAt !== null),
        afterEach: async () => {
          audited += 1
          if (audited % 5 !== 0) return
          const { findings } = await place.engine.audit(jobId)
          expect(findings).toEqual([])
        },
      })),
    )
  }
  expect(await knovaryn(['worker', '--once', ...folder.store])).toMatchObject({ code: 0 })
  return { provider, folder, place, log, killed, jobIds }
}

const isOf = (call: SeenCall, jobId: string): boolean => call.idempotencyKey?.startsWith(`${jobId}:`) ?? false
const fingerprintOf = (call: SeenCall): string => call.idempotencyKey?.split(':')[1] ?? ''

const countBy = <Item>(items: readonly Item[], key: (item: Item) => string): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>()
  for (const item of items) counts.set(key(item), (counts.get(key(item)) ?? 0) + 1)
  return counts
}

/** What the same batch leaves when nothing disturbs it. */
const undisturbed = async (): Promise<string> => {
  const provider = await startScriptedProvider(answersAfter(0))
  const folder = await batchFolder(lines)
  const place = await workplaceOn(`sqlite:${folder.at('store')}`)
  try {
    const { jobId } = await place.engine.submit(batchOf(lines, provider.baseUrl, { concurrency: 8 }))
    await place.work({ once: true }, new AbortController().signal)
    return await resultsOf(place, jobId)
  } finally {
    await place.close()
    await folder.remove()
    await provider.close()
  }
}

type Fire = Awaited<ReturnType<typeof batchesUnderFire>>

const expectAuditClean = async ({ folder, jobIds }: Fire): Promise<void> => {
  const verified = await knovaryn(['log', 'verify', '--json', ...folder.store])
  expect(verified, verified.stderr).toMatchObject({ code: 0 })
  for (const jobId of jobIds) {
    const audited = await knovaryn(['job', 'audit', jobId, '--json', ...folder.store])
    expect(audited, audited.stderr).toMatchObject({ code: 0 })
  }
  const checked = await knovaryn(['projections', 'verify', '--json', ...folder.store])
  expect(checked, checked.stderr).toMatchObject({ code: 0 })
}

/** No call whose answer the log has was reserved again behind it. */
const resentAfterSettled = ({ log }: Fire, jobId: string): readonly string[] => {
  const settled = new Set<string>()
  const fingerprints = new Map<number, string>()
  const resent: string[] = []
  for (const event of log.events(jobId)) {
    if (event.type === 'ProviderCallReserved') {
      fingerprints.set(event.data.call, event.data.fingerprint)
      if (settled.has(event.data.fingerprint)) resent.push(`${event.revision} ${event.data.callKey}`)
    }
    if (event.type === 'ProviderCallSettled') settled.add(fingerprints.get(event.data.call) ?? '')
  }
  return resent
}

test(`seed ${seed}: a batch whose workers are killed ${kills} times is billed once a line where the provider replays by key`, async () => {
  const fire = await batchesUnderFire(true)
  const { provider, place, log, killed, jobIds } = fire
  const expected = await undisturbed()
  const calls = await provider.calls()
  for (const jobId of jobIds) {
    const job = log.job(jobId)
    expect(job?.state).toBe('succeeded')
    const own = calls.filter((call) => isOf(call, jobId))
    const billed = countBy(own.filter((call) => call.billed), fingerprintOf)
    expect([...billed.values()].every((times) => times === 1)).toBe(true)
    expect(billed.size).toBe(lineCount)
    expect(resentAfterSettled(fire, jobId)).toEqual([])
    expect(log.count(jobId, 'ProviderCallSettled')).toBe(lineCount)
    expect(job?.money.spent.costUsd).toBe('16')
    expect(await resultsOf(place, jobId)).toBe(expected)
  }
  await expectAuditClean(fire)
  allKilled.push(...killed)
  const replayed = calls.filter((call) => call.replayed).length
  console.log(
    `replayed by key: ${killsText(killed)}; ${jobIds.length} batches of ${lineCount}, ${calls.length} sends, ` +
      `${calls.filter((call) => call.billed).length} billed, ${replayed} replayed`,
  )
  expect(killed.length).toBe(kills)
})

test(`seed ${seed}: a batch whose workers are killed ${kills} times holds one line for each send whose answer was lost where the provider ignores keys`, async () => {
  const fire = await batchesUnderFire(false)
  const { provider, place, folder, log, killed, jobIds } = fire
  const expected = await undisturbed()
  const calls = await provider.calls()
  let heldLines = 0
  for (const jobId of jobIds) {
    const job = log.job(jobId)
    expect(job?.state).toBe('succeeded')
    expect(resentAfterSettled(fire, jobId)).toEqual([])
    const ledger = await knovarynJson<{ lines: { state: string; callKey: string; key: string }[] }>([
      ...['job', 'ledger', jobId],
      ...folder.store,
    ])
    const settled = countBy(ledger.lines.filter((line) => line.state === 'settled'), (line) => line.key)
    const held = countBy(ledger.lines.filter((line) => line.state === 'held'), (line) => line.key)
    const all = countBy(ledger.lines, (line) => line.key)
    const sent = countBy(calls.filter((call) => isOf(call, jobId)), fingerprintOf)
    const reserved = countBy(
      log.events(jobId).flatMap((event) => (event.type === 'ProviderCallReserved' ? [event.data.fingerprint] : [])),
      (fingerprint) => fingerprint,
    )
    expect(settled.size).toBe(lineCount)
    for (const [key, times] of all) {
      expect(settled.get(key)).toBe(1)
      expect(held.get(key) ?? 0).toBe(times - 1)
    }
    // A worker may die between its reservation and the send, so there may be fewer sends; never one more.
    for (const [fingerprint, times] of sent) expect(times).toBeLessThanOrEqual(reserved.get(fingerprint) ?? 0)
    expect(sent.size).toBe(lineCount)
    const { spent, held: inHold, reserved: open } = job!.money
    expect(open.calls).toBe(0)
    expect(spent.calls + inHold.calls).toBeLessThanOrEqual(maximumCalls)
    expect(nanoUsd(spent.costUsd)).toBe(16_000_000_000n)
    expect(nanoUsd(inHold.costUsd)).toBe(BigInt(ledger.lines.length - lineCount) * 100_000_000n)
    heldLines += ledger.lines.length - lineCount
    expect(await resultsOf(place, jobId)).toBe(expected)
  }
  await expectAuditClean(fire)
  allKilled.push(...killed)
  console.log(
    `keys ignored: ${killsText(killed)}; ${jobIds.length} batches of ${lineCount}, ${calls.length} sends, ` +
      `${heldLines} held lines`,
  )
  expect(killed.length).toBe(kills)
})

test(`seed ${seed}: of ${2 * kills} kills at least ${withOpenMin} met an open reservation`, () => {
  console.log(`together: ${killsText(allKilled)}`)
  expect(allKilled.length).toBe(2 * kills)
  expect(allKilled.filter(({ openCalls }) => openCalls > 0).length).toBeGreaterThanOrEqual(withOpenMin)
})
