import { describe, expect, test } from 'vitest'
import { allOpenLeases, openLeases } from '../../projections/openLeases.ts'
import { event, type GivenEvent } from '../support/controls.ts'
import { listed, logged, newer } from './loggedJob.ts'

const open = (...given: (GivenEvent | typeof newer)[]) => listed(openLeases, logged(given), allOpenLeases)
const working = [event.JobSubmitted(), event.JobLeased({ leaseMs: 500 }), event.JobStarted()]

describe('a lease is open', () => {
  test('from the claim on', () => {
    expect(open(event.JobSubmitted(), event.JobLeased({ leaseMs: 500 }))).toMatchObject([
      { token: 1, owner: 'worker-a', leaseMs: 500, ownerRevision: 1, position: '0000000000000002' },
    ])
  })

  test('and every event of its owner is a sign of life', () => {
    expect(open(...working, event.ProviderCallReserved(), event.JobLogged())).toMatchObject([
      { ownerRevision: 4, position: '0000000000000005' },
    ])
  })

  test('but what others write is none', () => {
    expect(open(...working, event.PauseRequested(), event.BudgetRaised())).toMatchObject([
      { ownerRevision: 2, position: '0000000000000003' },
    ])
  })

  test('again for the next owner', () => {
    expect(open(...working, event.LeaseExpired(), event.JobLeased({ token: 2, owner: 'worker-b' }))).toMatchObject([
      { token: 2, owner: 'worker-b', ownerRevision: 4 },
    ])
  })

  test('while the job is flushed', () => {
    expect(open(...working, event.JobPausing())).toMatchObject([{ ownerRevision: 3 }])
    expect(open(...working, event.CancellationRequested(), event.JobCancelling())).toMatchObject([{ ownerRevision: 4 }])
  })
})

describe('a lease is not open', () => {
  test.each<[string, readonly (GivenEvent | typeof newer)[]]>([
    ['before the first claim', [event.JobSubmitted()]],
    ['once it expired', [...working, event.LeaseExpired()]],
    ['once it expired with open calls', [...working, event.LeaseExpired(), event.ProviderCallOrphaned()]],
    ['once it was released', [...working, event.LeaseReleased()]],
    ['while the job waits for a retry', [...working, event.RetryScheduled()]],
    ['once the job paused', [...working, event.JobPausing(), event.JobPaused()]],
    ['once the job was cancelled', [...working, event.JobCancelling(), event.JobCancelled()]],
    ['once the job succeeded', [...working, event.JobSucceeded()]],
    ['once the job failed', [...working, event.JobFailed()]],
    ['for a program that is too old to write to the job', [...working, newer]],
  ])('%s', (_, given) => {
    expect(open(...given)).toEqual([])
  })
})
