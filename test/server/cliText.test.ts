import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { JobId } from '../../domain/ids.ts'
import { jobDocument, type JobDocument } from '../../domain/job/document.ts'
import type { JobEvent } from '../../domain/job/events.ts'
import type { JobState } from '../../domain/job/job.ts'
import { changeTeller } from '../../server/cli/changeTeller.ts'
import { dollarsText } from '../../server/cli/dollarsText.ts'
import { eventDetails } from '../../server/cli/eventDetails.ts'
import { jobSummary } from '../../server/cli/jobSummary.ts'
import { plainText } from '../../server/cli/plainText.ts'
import type { TextOut } from '../../server/cli/shell.ts'
import { textTable } from '../../server/cli/textTable.ts'
import { fitting, textWidth } from '../../server/cli/textWidth.ts'
import { event, eventExamples, eventTypes, instant, milliUsd, sha } from '../support/controls.ts'
import { given } from '../support/given.ts'

const out: TextOut = { isTerminal: false, columns: 60, rows: 24, write: async () => true }
const shell = { program: 'knovaryn', env: {}, stdout: out, stderr: out, onSignal: () => () => {}, exitNow: () => {} }

const running = (over: Partial<JobDocument> = {}): JobDocument => {
  const { job } = given(event.JobSubmitted(), event.JobLeased(), event.JobStarted())
  if (job === null) throw new Error('this history makes a job')
  return { ...jobDocument(job), ...over }
}

test.each([
  ['0', '$0.00'],
  ['0.5', '$0.50'],
  ['0.001615', '$0.001615'],
  ['16.15', '$16.15'],
  ['1234567.000000001', '$1,234,567.000000001'],
])('%s dollars are shown as %s, without a digit lost', (usd, text) => {
  expect(dollarsText(usd)).toBe(text)
})

test.each([
  ['\u001b[31mred\u001b[0m', '\\u001b[31mred\\u001b[0m'],
  ['one\r\n  two\u2028three', 'one two three'],
  ['tab\there\u0000\u009b\u007f', 'tab here\\u0000\\u009b\\u007f'],
  ['\u202egnp.exe', '\\u202egnp.exe'],
  ['ünïcödé 👩‍👩‍👧 漢字', 'ünïcödé 👩‍👩‍👧 漢字'],
])('%j is shown without what a terminal would obey', (text, shown) => {
  expect(plainText(text)).toBe(shown)
})

test.each([
  ['abc', 3],
  ['é', 1],
  ['e\u0301', 1],
  ['漢字', 4],
  ['𠀀', 2],
  ['👩‍👩‍👧', 2],
])('%j takes %i columns', (text, width) => {
  expect(textWidth(text)).toBe(width)
})

test('a text is cut between characters, never inside of one', () => {
  expect(fitting('ab漢字', 5)).toBe('ab漢')
  expect(fitting('👩‍👩‍👧👩‍👩‍👧', 3)).toBe('👩‍👩‍👧')
  expect(fitting('abc', 80)).toBe('abc')
})

test('a table keeps its columns under wide characters, and numbers to the right', () => {
  const rows = [
    { name: '漢字', count: 7 },
    { name: 'plain', count: 1_000 },
  ]
  expect(
    textTable(
      [
        { heading: 'NAME', text: (row) => row.name },
        { heading: 'COUNT', align: 'right', text: (row) => String(row.count) },
      ],
      rows,
    ),
  ).toBe('NAME   COUNT\n漢字       7\nplain   1000\n')
})

describe('an event in one line', () => {
  test.each(eventTypes)('%s tells what matters of it', (type) => {
    const meta = { projectId: 'default', actor: 'ann', commandId: 'c' }
    const placed = { revision: 3, recordedAt: instant(3), id: 'i', schemaVersion: 1, position: '4', hash: sha('5'), meta }
    const whole = { type, data: eventExamples[type], jobId: JobId.parse('0'.repeat(32)), ...placed } as JobEvent
    const text = eventDetails(whole)
    expect(text).not.toMatch(/undefined|null|NaN|\[object/)
    expect(plainText(text)).toBe(text)
  })
})

describe('the summary of a job', () => {
  const lines = (job: JobDocument): Record<string, string> =>
    Object.fromEntries(
      jobSummary(job, shell)
        .split('\n')
        .slice(1)
        .filter((line) => line !== '')
        .map((line) => [line.slice(2, 12).trim(), line.slice(13)]),
    )

  test('says where it is, what it has cost and who works it', () => {
    const job = running({ progress: { done: 12, total: 20, unit: 'lines' } })
    expect(jobSummary(job, shell)).toMatch(/^Job 0123456789abcdef0123456789abcdef · default\/batch · running\n/)
    expect(lines(job)).toMatchObject({
      stage: 'intake (1 of 2) · 12/20 lines',
      spent: '$0.00 of $1.00',
      calls: '0 of 10 · 0 tokens in, 0 out',
      labels: 'team=red',
      worker: 'worker-a',
      lease: expect.stringMatching(/^until \d{4}-/),
    })
  })

  test('says why it waits, and until when', () => {
    expect(lines(running({ waitingFor: { reason: 'requests_per_minute', until: instant(9) } }))).toMatchObject({
      waiting: `for requests per minute until ${instant(9)}`,
    })
    expect(lines(running({ state: 'retry_wait', retryAt: instant(9), errorCode: 'timeout', errorSummary: 'no answer' }))).toMatchObject({
      waiting: `for its next attempt until ${instant(9)}`,
      why: 'timeout: no answer',
    })
  })

  test('says of a paused job once why, and what the whole may come to until it has ended', () => {
    const waitingFor = { reason: 'budget_exhausted', until: null }
    const paused = running({ state: 'paused', errorCode: 'budget_exhausted', errorSummary: 'no room', estimatedCostUsd: milliUsd(500), waitingFor })
    expect(lines(paused)).toMatchObject({ why: 'budget_exhausted: no room', estimate: '$0.50 for the whole job at its worst' })
    expect(lines(paused)).not.toHaveProperty('waiting')
    expect(lines({ ...paused, state: 'succeeded' })).not.toHaveProperty('estimate')
  })

  test('says what is held, reserved and asked for', () => {
    const { budget } = running()
    const held = { ...budget, heldCostUsd: milliUsd(80), reservedCostUsd: milliUsd(20) }
    expect(lines(running({ budget: held, cancellationRequestedAt: instant(5) }))).toMatchObject({
      spent: '$0.00 of $1.00 · held $0.08 · reserved $0.02',
      requested: `to be cancelled, since ${instant(5)}`,
    })
  })

  test('keeps other people’s words to their line', () => {
    const summary = jobSummary(running({ labels: { 'a\nb': '\u001b[2J' }, errorCode: 'x', errorSummary: 'one\ntwo' }), shell)
    expect(summary).not.toContain('\u001b')
    expect(summary).toContain('x: one two')
  })
})

describe('progress away from a terminal', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  test('is a line for each change of state or stage, and one now and then', () => {
    const at = (done: number, state: JobState = 'running'): JobDocument =>
      running({ state, progress: { done, total: 1_000, unit: 'lines' } })
    const tell = changeTeller()
    const told = [at(1), at(2), at(3, 'pausing'), at(3, 'pausing')].map((job) => tell(job) !== null)
    expect(told).toEqual([true, false, true, false])
    vi.advanceTimersByTime(10_000)
    expect(tell(at(4, 'pausing'))).toContain('4/1000 lines')
  })
})
