import { describe, expect, test } from 'vitest'
import { nothing, plus } from '../../domain/budget.ts'
import type { Amounts } from '../../domain/job/events.ts'
import type { Job } from '../../domain/job/job.ts'
import { addUsd, zeroUsd } from '../../domain/money.ts'
import { costLedger } from '../../projections/costLedger.ts'
import { dayOf, type JobSpend, spend, spendOn, sumSpend } from '../../projections/spend.ts'
import { event, milliUsd } from '../support/controls.ts'
import { listed, logged, projected } from './loggedJob.ts'
import { diceOf, randomLog } from './randomLog.ts'

const seeds = Array.from({ length: 6 }, (_, index) => index + 101)
const log = (seed: number) => randomLog(diceOf(seed), { jobs: 3, steps: 800 })

describe('the cost ledger', () => {
  test.each(seeds)('has the totals of the folded job after every event (seed %i)', (seed) => {
    const ledgers = new Map<string, ReturnType<typeof costLedger>>()
    for (const { event: happened, job } of log(seed)) {
      const ledger = ledgers.get(job.jobId) ?? costLedger()
      ledgers.set(job.jobId, ledger)
      ledger.add(happened)
      const { callsMade, ...money } = ledger.totals()
      expect(money, `${happened.type} at ${happened.position}`).toEqual(job.money)
      expect(callsMade).toBe(job.money.spent.calls + job.money.held.calls + job.money.reserved.calls)
    }
  })

  test.each(seeds)('has lines that sum up to its totals (seed %i)', (seed) => {
    const jobs = new Map<string, ReturnType<typeof costLedger>>()
    for (const { event: happened, job } of log(seed)) {
      const ledger = jobs.get(job.jobId) ?? costLedger()
      jobs.set(job.jobId, ledger)
      ledger.add(happened)
    }
    for (const ledger of jobs.values()) {
      const { spent, held, reserved } = ledger.totals()
      const sum = { spent: zeroUsd, held: zeroUsd, reserved: zeroUsd, input: 0, output: 0 }
      for (const line of ledger.lines()) {
        sum.spent = addUsd(sum.spent, line.costUsd ?? zeroUsd)
        sum.input += line.inputTokens ?? 0
        sum.output += line.outputTokens ?? 0
        if (line.state === 'held') sum.held = addUsd(sum.held, line.worstCaseUsd)
        if (line.state === 'reserved') sum.reserved = addUsd(sum.reserved, line.worstCaseUsd)
      }
      expect(sum).toEqual({
        spent: spent.costUsd,
        held: held.costUsd,
        reserved: reserved.costUsd,
        input: spent.inputTokens,
        output: spent.outputTokens,
      })
    }
  })

  const linesOf = (...given: Parameters<typeof logged>[0]) => {
    const ledger = costLedger()
    for (const each of logged([event.JobSubmitted(), event.JobLeased(), event.JobStarted(), ...given])) ledger.add(each)
    return ledger.lines()
  }

  test('tells what became of each send', () => {
    const lines = linesOf(
      event.ProviderCallReserved(),
      event.ProviderCallSettled({ overrun: true }),
      event.ProviderCallReserved({ call: 2, callKey: 'key-2' }),
      event.ProviderCallFailed({ call: 2, billed: 'no', errorCode: 'rate_limited' }),
      event.ProviderCallReserved({ call: 3, callKey: 'key-3' }),
      event.ProviderCallFailed({ call: 3, billed: 'unknown' }),
      event.ProviderCallReserved({ call: 4, callKey: 'key-3', takesOver: 3 }),
      event.ProviderCallSettled({ call: 4, usage: null, costUsd: milliUsd(100), usageInvalid: true }),
      event.ProviderCallReserved({ call: 5, callKey: 'key-5' }),
      event.LeaseExpired(),
      event.ProviderCallOrphaned({ call: 5 }),
      event.ProviderCallReconciled({ call: 5, note: 'seen on the bill' }),
    )
    expect(lines).toMatchObject([
      { call: 1, state: 'settled', costUsd: '0.06', overrun: true, inputTokens: 90, revision: 3, priceProfileId: 'prices' },
      { call: 2, state: 'failed', costUsd: '0', errorCode: 'rate_limited' },
      { call: 3, state: 'taken_over', costUsd: null, takenOverBy: 4 },
      { call: 4, state: 'settled', costUsd: '0.1', usage: null, usageInvalid: true, inputTokens: 100, outputTokens: 200 },
      { call: 5, state: 'reconciled', costUsd: '0.05', note: 'seen on the bill', errorCode: 'worker_lost' },
    ])
  })
})

describe('the spend of a day', () => {
  const tokensAndMoney = ({ costUsd, calls, inputTokens, outputTokens }: Omit<Amounts, 'examples'>) => ({
    costUsd,
    calls,
    inputTokens,
    outputTokens,
  })

  test.each(seeds)('adds up, over all days, to what the jobs have spent (seed %i)', (seed) => {
    const events = log(seed)
    const jobs = new Map<string, Job>(events.map(({ job }) => [job.jobId, job]))
    const views = projected(spend, events.map((each) => each.event))
    let days = 0
    for (const [jobId, job] of jobs) {
      const lines = views.get(jobId)?.lines ?? []
      const total = lines.reduce((sum, line) => plus(sum, { ...tokensAndMoney(line), examples: 0 }), nothing)
      expect(tokensAndMoney(total)).toEqual(tokensAndMoney(job.money.spent))
      expect(Object.keys(views.get(jobId)?.open ?? {})).toEqual([...Object.keys(job.open), ...Object.keys(job.holds)].toSorted((a, b) => Number(a) - Number(b)))
      days += new Set(lines.map((line) => line.day)).size
    }
    expect(days).toBeGreaterThan(0)
  })

  test('is that of the day on which a call was settled, not reserved', () => {
    const working = [event.JobSubmitted(), event.JobLeased(), event.JobStarted(), event.ProviderCallReserved()]
    const midnight = 24 * 3_600
    const events = logged([...working, event.ProviderCallSettled()], { from: midnight - working.length })
    expect(events.map((each) => dayOf(each.recordedAt)).slice(-2)).toEqual(['2026-01-01', '2026-01-02'])
    expect(listed(spend, events, spendOn('2026-01-01'))).toEqual([])
    expect(listed(spend, events, spendOn('2026-01-02', 'default'))).toMatchObject([
      { lines: [{ day: '2026-01-02', provider: 'offline', model: 'small', calls: 1, costUsd: '0.06' }] },
    ])
  })

  test('is summed over jobs by project, provider and model', () => {
    const line = { day: '2026-01-01', provider: 'p', model: 'm', calls: 1, inputTokens: 2, outputTokens: 3, costUsd: milliUsd(4) }
    const job = (number: number, projectId: string, lines: JobSpend['lines']): JobSpend => ({
      jobId: logged([event.JobSubmitted()], { job: number })[0]!.jobId,
      projectId,
      lines,
      open: {},
    })
    const rows = sumSpend([job(1, 'b', [line]), job(2, 'a', [line]), job(3, 'b', [line, { ...line, model: 'n' }])])
    expect(rows.map((row) => [row.projectId, row.model, row.calls, row.costUsd])).toEqual([
      ['a', 'm', 1, '0.004'],
      ['b', 'm', 2, '0.008'],
      ['b', 'n', 1, '0.004'],
    ])
  })

  test('leaves no document of a job that has paid for nothing', () => {
    const tried = [event.JobSubmitted(), event.JobLeased(), event.JobStarted(), event.ProviderCallReserved()]
    expect(projected(spend, logged([...tried, event.ProviderCallFailed({ billed: 'no' })])).size).toBe(0)
    expect(projected(spend, logged([...tried, event.ProviderCallFailed({ billed: 'unknown' })])).size).toBe(1)
  })
})
