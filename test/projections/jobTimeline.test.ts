import { describe, expect, test } from 'vitest'
import { jobTimeline } from '../../projections/jobTimeline.ts'
import { event, eventTypes, type GivenEvent, milliUsd } from '../support/controls.ts'
import { logged, newer } from './loggedJob.ts'

const told = (...given: readonly (GivenEvent | typeof newer)[]) => {
  const timeline = jobTimeline()
  return logged(given).map((each) => timeline.add(each))
}
const working = [event.JobSubmitted(), event.JobLeased(), event.JobStarted()]

describe('the timeline of a job', () => {
  test('says what happened, in order, with state, stage and money', () => {
    const entries = told(
      ...working,
      event.ProviderCallReserved(),
      event.ProviderCallSettled({ overrun: true, costUsd: milliUsd(150) }),
      event.StageCompleted(),
      event.ProviderCallReserved({ call: 2, callKey: 'key-2', stage: 'generate', key: 'line-2' }),
      event.LeaseExpired({ reason: 'owner_gone' }),
      event.ProviderCallOrphaned({ call: 2 }),
      event.ProviderCallReconciled({ call: 2, note: 'seen on the bill' }),
      event.BudgetRaised({ limits: { maximumCostUsd: null, maximumCalls: 20 } }),
    )
    expect(entries.map((entry) => entry.text)).toEqual([
      'ann submitted a batch job to project default: intake → generate, at most $1',
      'worker-a claimed the job (token 1) for 60 s',
      'work began at stage intake, attempt 1',
      '$0.1 set aside for call 1 (line-1, offline small)',
      'call 1 (line-1, offline small) cost $0.15, above its worst case',
      'stage intake completed in 1 s',
      '$0.1 set aside for call 2 (line-2, offline small)',
      "the owner's process is gone; its lease (token 1) ended",
      'nobody knows what became of call 2 (line-2, offline small): its worst case is held',
      'ann found that call 2 (line-2, offline small) was billed $0.05 (seen on the bill)',
      'ann raised maximumCostUsd to no limit and maximumCalls to 20',
    ])
    expect(entries.map((entry) => entry.state)).toEqual([
      'queued', 'leased', 'running', 'running', 'running', 'running', 'running', 'queued', 'queued', 'queued', 'queued',
    ])
    expect(entries.filter((entry) => entry.hasChangedState).map((entry) => entry.revision)).toEqual([0, 1, 2, 7])
    expect(entries[6]).toMatchObject({ stage: 'generate', spentCostUsd: '0.15', reservedCostUsd: '0.1', actor: 'ann' })
    expect(entries.at(-1)).toMatchObject({ spentCostUsd: '0.2', heldCostUsd: '0', reservedCostUsd: '0' })
  })

  test.each(eventTypes)('has a sentence for %s', (type) => {
    const [entry] = told(...working, event[type]()).slice(-1)
    expect(entry?.type).toBe(type)
    expect(entry?.text).toMatch(/^\S.*[^.\s]$/)
    expect(entry?.text).not.toMatch(/undefined|null|\[object/)
  })

  test('shows an event that this program does not know as that', () => {
    const [entry] = told(...working, newer).slice(-1)
    expect(entry).toMatchObject({
      type: 'JobTeleported',
      actor: null,
      state: 'running',
      text: 'JobTeleported (version 1), which is newer than this program',
    })
  })
})
