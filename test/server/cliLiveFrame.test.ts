import { describe, expect, test } from 'vitest'
import { jobDocument, type JobDocument } from '../../domain/job/document.ts'
import type { JobEvent } from '../../domain/job/events.ts'
import type { Job } from '../../domain/job/job.ts'
import { Usd } from '../../domain/money.ts'
import { frame, lastFrame } from '../../server/cli/live/frame.ts'
import { type LiveView, viewOf, withEvents } from '../../server/cli/live/liveView.ts'
import { textWidth } from '../../server/cli/textWidth.ts'
import { event, type GivenEvent, instant, milliUsd } from '../support/controls.ts'
import { follow, historyOf } from '../support/histories.ts'

/** The view of a job with this history, one event a second. */
const viewed = (events: readonly GivenEvent[], over: Partial<JobDocument> = {}): LiveView => {
  const history = historyOf(events)
  const job = follow(null, history) as Job
  return withEvents(viewOf({ ...jobDocument(job), ...over }), history as readonly JobEvent[], at(events.length - 1))
}

const at = (seconds: number): number => Date.parse(instant(seconds))

const drawn = (view: LiveView, seconds: number, [columns, rows]: readonly [number, number] = [79, 24]): string =>
  frame(view, { columns, rows, nowMs: at(seconds), paint: (text) => text }).join('\n')

const begun = [
  event.JobSubmitted(),
  event.JobLeased(),
  event.JobStarted(),
  event.StageCompleted({ durationMs: 1_400 }),
] as const
const settled = (call: number, done: number): readonly GivenEvent[] => [
  event.ProviderCallReserved({ call, callKey: `key-${call}`, stage: 'generate' }),
  event.ProviderCallSettled({ call, progress: { done, total: 40, unit: 'lines' } }),
]
const atWork = [...begun, ...settled(1, 4), ...settled(2, 8), event.ProviderCallReserved({ call: 3, callKey: 'key-3' })]

describe('a frame', () => {
  test('of a queued job says that nobody works it', () => {
    expect(drawn(viewed([event.JobSubmitted()]), 30)).toBe(`
0123456789ab · queued · default/batch                              0:00 at work

  ○ intake
  · generate

    money     ──────────────────────────────────── of $1.00
              ■ $0.0000 spent  ▤ $0.0000 reserved  ─ $1.0000 left
    calls     0 of 10 · 0 of 1,000 tokens in · 0 of 2,000 out
    estimate  $0.30 at worst · 0% of it spent
    worker    none yet · waits for a worker`)
  })

  test('of a job at work says how far it is, how fast, what it costs, and what it waits for', () => {
    const waitingFor = { reason: 'requests_per_minute', until: instant(20) }
    const view = viewed([...atWork, event.JobLogged({ level: 'warn', message: 'line-9 was cut' })], { waitingFor })
    expect(drawn(view, 9)).toBe(`
0123456789ab · running · default/batch                             0:07 at work

  ✓ intake    1.4 s
  ● generate  ━━━━╸─────────────────── 8/40 lines · 2.0/s · 16 s left

    money     ■■■■▤▤▤▤──────────────────────────── of $1.00
              ■ $0.1200 spent  ▤ $0.1000 reserved  ─ $0.7800 left
    calls     3 of 10 · 180 of 1,000 tokens in · 300 of 2,000 out
    estimate  $0.30 at worst · 40% of it spent
    worker    worker-a · lease 60 s · waits for requests per minute, 11 s

  00:00:09Z  line-9 was cut`)
  })

  test('of a job paused by its budget says why, and what is held', () => {
    const view = viewed([
      ...atWork,
      event.ProviderCallFailed({ call: 3 }),
      event.BudgetExhausted(),
      event.JobPausing({ reason: 'budget_exhausted' }),
      event.JobPaused({ reason: 'budget_exhausted' }),
    ])
    expect(drawn(view, 900)).toBe(`
0123456789ab · paused · default/batch                              0:10 at work

  ✓ intake    1.4 s
  ‖ generate  ━━━━╸─────────────────── 8/40 lines · paused

    why       budget_exhausted: maximumCalls has no room for the next call
    money     ■■■■▣▣▣▣──────────────────────────── of $1.00
              ■ $0.1200 spent  ▣ $0.1000 held  ▤ $0.0000 reserved
    calls     3 of 10 · 180 of 1,000 tokens in · 300 of 2,000 out
    estimate  $0.30 at worst · 40% of it spent
    held      $0.10: it may have been billed · \`job reconcile\` books it

  00:00:09Z  call 3 failed: timeout: no answer in time
  00:00:10Z  no room in maximumCalls; the next call needs up to $0.10`)
  })

  test('of a job between attempts counts down to the next one', () => {
    const view = viewed([...begun, event.RetryScheduled({ retryAt: instant(70), delayMs: 66_000 })])
    expect(drawn(view, 40)).toBe(`
0123456789ab · retry_wait · default/batch                          0:02 at work

  ✓ intake    1.4 s
  ○ generate

    why       timeout: no answer in time
    money     ──────────────────────────────────── of $1.00
              ■ $0.0000 spent  ▤ $0.0000 reserved  ─ $1.0000 left
    calls     0 of 10 · 0 of 1,000 tokens in · 0 of 2,000 out
    estimate  $0.30 at worst · 0% of it spent
    worker    none yet · waits for its next attempt, 30 s

  00:00:04Z  again in 66 s: timeout: no answer in time`)
  })

  test('of a failed job marks the stage that failed', () => {
    const view = viewed([...begun, event.JobFailed()])
    expect(drawn(view, 900)).toBe(`
0123456789ab · failed · default/batch                              0:02 at work

  ✓ intake    1.4 s
  ✗ generate  failed

    why       bad_request: the model refused the request
    money     ──────────────────────────────────── of $1.00
              ■ $0.0000 spent  ▤ $0.0000 reserved  ─ $1.0000 left
    calls     0 of 10 · 0 of 1,000 tokens in · 0 of 2,000 out
    estimate  $0.30 at worst · 0% of it spent

  00:00:04Z  failed: bad_request: the model refused the request`)
  })

  test('that is left of a job that succeeded holds what its summary does not say', () => {
    const view = viewed([...begun, event.StageCompleted({ stage: 'generate', durationMs: 75_000 }), event.JobSucceeded()])
    const lines = lastFrame(view, { columns: 79, rows: 24, nowMs: at(900), paint: (text) => text })
    expect(lines).toEqual(['', '  ✓ intake    1.4 s', '  ✓ generate  75 s', ''])
  })

  test('that is narrow leaves out what matters least', () => {
    expect(drawn(viewed(atWork), 8, [40, 24])).toBe(`
0123456789ab · running · default/…  0:06

  ✓ intake    1.4 s
  ● generate  ━━╸─────── 8/40 lines

    money     ■■▤▤───────────── of $1.00
              ■ $0.1200 spent
    calls     3 of 10
    estimate  $0.30 at worst
    worker    worker-a · lease 60 s`)
  })

  test('that is low has its stages on one line, and only the first of the money', () => {
    expect(drawn(viewed(atWork), 8, [79, 5])).toBe(
      `0123456789ab · running · default/batch                             0:06 at work
  ✓ intake  ● generate
    ━━━━╸─────────────────── 8/40 lines · 2.0/s · 16 s left
    money     ■■■■▤▤▤▤──────────────────────────── of $1.00
    worker    worker-a · lease 60 s`,
    )
  })

  test('that is low counts stages for which there is no room', () => {
    const stages = ['intake', 'generate', ...Array.from({ length: 30 }, (_, index) => `stage-${index}`)]
    const [, row] = drawn(viewed(atWork, { stages }), 8, [60, 5]).split('\n')
    expect(row).toBe('  ✓ 1 done  ● generate  · 30 to come')
  })
})

test.each([1, 20, 40, 41, 59, 60, 79, 80, 120])('no line is wider than %i columns, and no row too many', (columns) => {
  const strange = '漢字👩‍👩‍👧\u001b[2J'.repeat(40)
  const { budget } = viewed(atWork).job
  const view = viewed([...atWork, event.JobLogged({ message: strange })], {
    projectId: strange,
    stages: ['intake', strange],
    leaseOwner: strange,
    errorSummary: strange,
    lostLeaseCount: 12,
    waitingFor: { reason: strange, until: null },
    estimatedCostUsd: milliUsd(123_456_789),
    budget: { ...budget, maximumCostUsd: milliUsd(999_999_999_999), heldCostUsd: milliUsd(123_456) },
  })
  for (const rows of [1, 2, 3, 5, 8, 12, 16, 20, 24]) {
    const lines = drawn(view, 8, [columns, rows]).split('\n')
    expect(lines.length).toBeLessThanOrEqual(rows)
    expect(Math.max(...lines.map(textWidth))).toBeLessThanOrEqual(columns)
    expect(lines.join('')).not.toContain('\u001b')
  }
})

test('a job without limits, estimate or owner has no bar and no line for what is not there', () => {
  const { budget } = viewed(begun).job
  const view = viewed([event.JobSubmitted()], {
    estimatedCostUsd: null,
    budget: { ...budget, maximumCostUsd: null, maximumCalls: null, maximumInputTokens: null, maximumOutputTokens: null },
  })
  const text = drawn(view, 8)
  expect(text).toContain('    money     ■ $0.0000 spent  ▤ $0.0000 reserved  no limit\n    calls     0 · 0 tokens in · 0 out\n')
  expect(text).not.toContain('estimate')
})

describe('time left', () => {
  test('is not told before there is a second to tell it by, nor after a long silence', () => {
    expect(drawn(viewed([...begun, ...settled(1, 4)]), 6)).toContain('4/40 lines\n')
    expect(drawn(viewed(atWork), 60)).toContain('8/40 lines\n')
  })

  test('grows while nothing comes', () => {
    expect(drawn(viewed(atWork), 10)).toContain('8/40 lines · 1.0/s · 32 s left')
  })

  test('begins anew with a new owner: what nobody worked in is no measure', () => {
    const taken = [event.LeaseExpired(), event.JobLeased({ token: 2, owner: 'b' }), event.JobStarted()]
    const text = drawn(viewed([...atWork.slice(0, -1), ...taken]), 12)
    expect(text).toContain('8/40 lines\n')
    expect(text).toContain('taken by b')
  })
})

test('progress of a stage that has ended is not that of the next one', () => {
  const progress = { done: 3, total: 3, unit: 'files' }
  const view = viewed([...begun.slice(0, 3), event.StageCompleted({ progress })])
  expect(drawn(view, 4)).not.toContain('files')
})

test.each([
  ['0.00001', '■ <$0.0001 spent'],
  ['0.12345', '■ $0.1235 spent'],
  ['1234.5', '■ $1,234.5000 spent'],
  ['2', '─ $0.0000 left'],
])('%s dollars spent are shown to the hundredth of a cent, and never as less than nothing left', (spent, text) => {
  const { budget } = viewed(begun).job
  expect(drawn(viewed(begun, { budget: { ...budget, spentCostUsd: Usd.parse(spent) } }), 4)).toContain(text)
})
