import { expect, test } from 'vitest'
import { batchLines } from '../../support/batchFiles.ts'
import { until } from '../../support/until.ts'
import { answersAfter, batchOf } from '../../support/workplaceOn.ts'
import { inBackground, inState, soundFindings } from './background.ts'

type Expected = { readonly atLeastMs: number; readonly atMostMs: number; readonly reason: 'retry_after' | 'backoff'; readonly raw?: string }
const ownBackoff: Expected = { atLeastMs: 500, atMostMs: 1_000, reason: 'backoff' }
const atOnce: Expected = { atLeastMs: 0, atMostMs: 1_000, reason: 'retry_after' }

const values: readonly (readonly [name: string, headers: Record<string, string>, expected: Expected])[] = [
  ['3', { 'retry-after': '3' }, { atLeastMs: 3_000, atMostMs: 4_500, reason: 'retry_after', raw: '3' }],
  ['a date ahead', { 'retry-after': '{{httpDate+3000}}' }, { atLeastMs: 2_000, atMostMs: 4_600, reason: 'retry_after' }],
  ['a date in the past', { 'retry-after': '{{httpDate-60000}}' }, atOnce],
  ['1500 ms', { 'retry-after-ms': '1500' }, { atLeastMs: 1_500, atMostMs: 2_500, reason: 'retry_after' }],
  ['1500 ms beside 60 s', { 'retry-after': '60', 'retry-after-ms': '1500' }, { atLeastMs: 1_500, atMostMs: 2_500, reason: 'retry_after' }],
  ['0', { 'retry-after': '0' }, atOnce],
  ['-5', { 'retry-after': '-5' }, ownBackoff],
  ['1e9999', { 'retry-after': '1e9999' }, ownBackoff],
  ['soon', { 'retry-after': 'soon' }, { ...ownBackoff, raw: 'soon' }],
  ['nothing', { 'retry-after': '' }, ownBackoff],
  ['a day that is not', { 'retry-after': 'Thu, 99 Foo 2026' }, { ...ownBackoff, raw: 'Thu, 99 Foo 2026' }],
]

test('O-07: every form of Retry-After waits as long as it says, and an unreadable one waits our own while', async () => {
  const { provider, open, work } = await inBackground(
    answersAfter(5, {
      rules: values.map(([name, headers]) => ({
        when: { promptIncludes: `[${name}]` },
        times: 1,
        answer: { status: 429, headers },
      })),
    }),
  )
  const place = await open()
  work(place, { slots: values.length })
  const jobs = await Promise.all(
    values.map(([name]) => place.engine.submit(batchOf(batchLines(1, `[${name}]`), provider.baseUrl))),
  )
  await Promise.all(jobs.map((job) => inState(place, job.jobId, 'succeeded')))
  const calls = await provider.calls()
  for (const [index, [name, , expected]] of values.entries()) {
    const { jobId } = jobs[index]!
    const { items } = await place.engine.events(jobId)
    const failed = items.find((event) => event.type === 'ProviderCallFailed')
    expect(failed, name).toMatchObject({ data: { delayReason: expected.reason, billed: 'no', status: 429 } })
    const { delayMs = -1, retryAfter } = failed!.data as { delayMs?: number; retryAfter?: { raw: string; ms: number | null } }
    expect(delayMs, name).toBeGreaterThanOrEqual(expected.atLeastMs)
    expect(delayMs, name).toBeLessThanOrEqual(expected.atMostMs)
    if (expected.raw !== undefined) expect(retryAfter?.raw, name).toBe(expected.raw)
    if (expected.reason === 'backoff') expect(retryAfter?.ms ?? null, name).toBeNull()
    const [first, second] = calls.filter((call) => call.idempotencyKey?.startsWith(jobId))
    expect(second!.receivedAt - first!.receivedAt, name).toBeGreaterThanOrEqual(delayMs - 2)
  }
  expect(calls.length).toBe(2 * values.length)
  expect(await soundFindings(place)).toEqual([])
}, 30_000)

test('OX-20: a job that was told a long wait holds no lease and no slot meanwhile, and one of three workers starts it once', async () => {
  const { provider, open, work } = await inBackground(
    answersAfter(5, { rules: [{ when: { promptIncludes: 'long' }, times: 1, answer: { status: 429, headers: { 'retry-after': '6' } } }] }),
    'sqlite',
  )
  const places = [await open(), await open(), await open()]
  const [place] = places
  for (const each of places) work(each, { slots: 1, leaseMs: 2_000 })
  const { jobId } = await place!.engine.submit(batchOf(batchLines(1, 'long'), provider.baseUrl))
  const waiting = await inState(place!, jobId, 'retry_wait')
  expect(waiting).toMatchObject({ leaseOwner: null, waitingFor: { reason: 'retry_after' } })
  const others = await Promise.all(
    [1, 2, 3].map((each) => place!.engine.submit(batchOf(batchLines(1, `other ${each}`), provider.baseUrl))),
  )
  await Promise.all(others.map((job) => inState(place!, job.jobId, 'succeeded')))
  expect((await place!.engine.status(jobId)).state).toBe('retry_wait')
  await inState(place!, jobId, 'succeeded')
  const [first, second, ...more] = (await provider.calls()).filter((call) => call.prompt.includes('long'))
  expect(more).toEqual([])
  expect(second!.receivedAt - first!.answeredAt!).toBeGreaterThanOrEqual(6_000)
  const { items } = await place!.engine.events(jobId)
  expect(items.filter((event) => event.type === 'JobStarted').length).toBe(2)
  expect(items.filter((event) => event.type === 'LeaseExpired').length).toBe(0)
  await until('the slots to be free', async () => (await place!.engine.status(jobId)).leaseOwner === null)
  expect(await soundFindings(place!)).toEqual([])
}, 40_000)
