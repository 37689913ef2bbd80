import { describe, expect, test } from 'vitest'
import { redaction } from '../../../adapters/providers/redaction.ts'
import { retryAfter, retryAfterMsMax } from '../../../adapters/providers/retryAfter.ts'
import { chooseDelay, retryPolicy } from '../../../domain/retry.ts'
import { scriptedOpenai } from './scriptedHttp.ts'

const now = Date.UTC(2026, 9, 21, 7, 28, 0)
const inThreeSeconds = 'Wed, 21 Oct 2026 07:28:03 GMT'
const read = (headers: ConstructorParameters<typeof Headers>[0], nowMs = now) =>
  retryAfter(new Headers(headers), { nowMs, redact: redaction('sk-TESTSECRET123') })

describe('O-07: a wait the provider asked for', () => {
  test.each([
    ['3', 3_000],
    ['0', 0],
    ['1.5', 1_500],
    [inThreeSeconds, 3_000],
    ['Wed, 21 Oct 2026 07:27:00 GMT', 0],
    ['86400', retryAfterMsMax],
  ])('"%s" is read as %i ms', (raw, ms) => {
    expect(read({ 'retry-after': raw })).toEqual({ raw, ms })
  })

  test.each(['-5', '1e9999', 'soon', 'soon 5', '', '5 s', '0x10', 'NaN', 'Infinity', 'Thu, 99 Foo 2026', '86401'])(
    '"%s" is no wait: it means our own backoff, of half a step at least',
    (raw) => {
      const wait = read({ 'retry-after': raw })
      expect(wait).toEqual({ raw, ms: null })
      const { delayMs, reason } = chooseDelay({ attempt: 1, askedMs: wait?.ms ?? null, luck: 0 })
      expect({ reason, enough: delayMs >= retryPolicy.delayMsMin / 2 }).toEqual({ reason: 'backoff', enough: true })
    },
  )

  test.each(['Tue, 31 Feb 2026 00:00:00 GMT', 'Mon, 21 Oct 2026 07:28:03 GMT', '2026-10-21T07:28:03Z', '21 Oct 2026'])(
    '"%s" is no HTTP date',
    (raw) => expect(read({ 'retry-after': raw })?.ms).toBeNull(),
  )

  test('is none where no header asks for one', () => {
    expect(read({})).toBeNull()
  })

  test('in milliseconds wins over seconds', () => {
    expect(read({ 'retry-after': '9', 'retry-after-ms': '1500' })).toEqual({ raw: '1500', ms: 1_500 })
  })

  test('in seconds stands where the milliseconds cannot be read', () => {
    expect(read({ 'retry-after': '9', 'retry-after-ms': 'soon' })).toEqual({ raw: '9', ms: 9_000 })
    expect(read({ 'retry-after-ms': 'soon' })).toEqual({ raw: 'soon', ms: null })
  })

  test('that is sent more than once is the last one', () => {
    const headers = new Headers()
    for (const value of ['7', inThreeSeconds, '2']) headers.append('retry-after', value)
    expect(read(headers)).toEqual({ raw: '2', ms: 2_000 })
    headers.append('retry-after', inThreeSeconds)
    expect(read(headers)).toEqual({ raw: inThreeSeconds, ms: 3_000 })
  })

  test('as a date is reckoned from the server’s own clock, whatever ours says', () => {
    const headers = { 'retry-after': inThreeSeconds, date: 'Wed, 21 Oct 2026 07:28:01 GMT' }
    expect(read(headers, now + 3_600_000)?.ms).toBe(2_000)
    expect(read({ ...headers, date: 'now' })?.ms).toBe(3_000)
  })

  test('is shortened to 100 characters', () => {
    expect(read({ 'retry-after': 'x'.repeat(5_000) })).toEqual({ raw: 'x'.repeat(100), ms: null })
  })
})

describe('O-07: over the wire', () => {
  const openai = scriptedOpenai()

  test('a 429 carries the last of its Retry-After headers', async () => {
    const failure = await openai.failure({ status: 429, headers: { 'Retry-After': ['9', '4'] } })
    expect(failure.retryAfter).toEqual({ raw: '4', ms: 4_000 })
  })

  test('a date three seconds ahead asks for three seconds, give or take one', async () => {
    const failure = await openai.failure({ status: 503, headers: { 'Retry-After': '{{httpDate+3000}}' } })
    expect(failure.retryAfter?.ms).toBeGreaterThanOrEqual(2_000)
    expect(failure.retryAfter?.ms).toBeLessThanOrEqual(4_000)
  })

  test('an empty header is a wait that cannot be read', async () => {
    const failure = await openai.failure({ status: 429, headers: { 'Retry-After': '' } })
    expect(failure.retryAfter).toEqual({ raw: '', ms: null })
  })
})
