import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decide } from '../../domain/job/decide.ts'
import { evolve, type FoldedEvent } from '../../domain/job/evolve.ts'
import type { Job } from '../../domain/job/job.ts'
import { illegality } from '../../domain/job/legal.ts'
import { isRejection } from '../../domain/rejection.ts'
import { amounts, event, type GivenEvent, limits, milliUsd, spec, usage } from '../support/controls.ts'
import { given } from '../support/given.ts'
import { historyOf, place } from '../support/histories.ts'
import { aThrow, commandOf, type Throw } from './randomCommands.ts'

const queued = [event.JobSubmitted()]
const leased = [...queued, event.JobLeased()]
const running = [...leased, event.JobStarted()]
const open = [...running, event.ProviderCallReserved()]
const held = [...open, event.ProviderCallFailed()]
const pausing = [...running, event.PauseRequested(), event.JobPausing()]
const failed = [...running, event.JobFailed()]
const tight = [event.JobSubmitted(spec({ limits: limits({ maximumCalls: 1 }) })), event.JobLeased(), event.JobStarted()]
const failedByPolicy = [...running, event.JobFailed({ errorKind: 'policy_block' })]
const twice = [...running, event.LeaseExpired(), event.JobLeased({ token: 2 }), event.JobStarted()]
const asked = (request: GivenEvent) => [...running, request]
const lostWith = (request: GivenEvent) => [...running, request, event.LeaseExpired()]
const overrun = [...open, event.ProviderCallSettled({ costUsd: milliUsd(101), overrun: true })]

const breaks: readonly (readonly [rule: string, what: string, before: readonly GivenEvent[], next: GivenEvent])[] = [
  ['transition', 'a start of a job that nobody has leased', queued, event.JobStarted()],
  ['transition', 'a second claim', running, event.JobLeased({ token: 2 })],
  ['transition', 'a success of a job that is pausing', pausing, event.JobSucceeded()],
  ['transition', 'a second submit', queued, event.JobSubmitted()],
  ['transition', 'a pause that was never begun', running, event.JobPaused()],
  ['transition', 'a retry of a job that has not failed', queued, event.JobRetried()],
  ['transition', 'a resume of a queued job', queued, event.JobResumed()],
  ['terminal', 'a request after the end', failed, event.PauseRequested()],
  ['terminal', 'a raised budget after the end', failed, event.BudgetRaised()],
  ['policy_block', 'a retry of what a policy forbade', failedByPolicy, event.JobRetried()],
  ['fencing', 'work with the token of an earlier lease', twice, event.CheckpointRecorded({}, { token: 1 })],
  ['fencing', 'work with a token that was never given', running, event.JobLogged({}, { token: 2 })],
  ['fencing', 'a claim that takes a token twice', [...leased, event.LeaseExpired()], event.JobLeased({ token: 1 })],
  ['fencing', 'a claim that leaves a token out', [...leased, event.LeaseExpired()], event.JobLeased({ token: 3 })],
  ['fencing', 'a claim under another token', queued, event.JobLeased({ token: 1 }, { token: 2 })],
  ['fencing', 'the expiry of a lease that is not the one', running, event.LeaseExpired({ token: 2 })],
  ['fencing', 'the end of a pause by a stranger', pausing, event.JobPaused({}, { token: 7 })],
  ['fencing', 'a failure written by a stranger', running, event.JobFailed({}, { token: 7 })],
  ['orphans', 'a claim before the open calls are held', [...open, event.LeaseExpired()], event.JobLeased({ token: 2 })],
  ['flush', 'a message of a job that nobody flushes', [...pausing, event.LeaseExpired()], event.BudgetRaised()],
  ['worker_lost', 'too soon', [...running, event.LeaseExpired()], event.JobFailed({ errorKind: 'worker_lost' })],
  ['worker_lost', 'while the worker is there', running, event.JobFailed({ errorKind: 'worker_lost' })],
  [
    'request',
    'a claim of a job to be cancelled',
    lostWith(event.CancellationRequested()),
    event.JobLeased({ token: 2 }),
  ],
  ['request', 'a claim of a job to be paused', lostWith(event.PauseRequested()), event.JobLeased({ token: 2 })],
  ['open_calls', 'a release with an open call', open, event.LeaseReleased()],
  ['open_calls', 'a completed stage with an open call', open, event.StageCompleted()],
  ['stage', 'a checkpoint of a later stage', running, event.CheckpointRecorded({ stage: 'generate' })],
  ['stage', 'a stage completed out of order', running, event.StageCompleted({ stage: 'generate' })],
  ['stage', 'a success before the last stage', running, event.JobSucceeded()],
  ['stage', 'an invalid checkpoint of no stage', running, event.CheckpointInvalidated({ stage: 'nowhere' })],
  ['stage', 'an invalid checkpoint of a later stage', running, event.CheckpointInvalidated({ stage: 'generate' })],
  [
    'reserve',
    'a call after a cancel was asked for',
    asked(event.CancellationRequested()),
    event.ProviderCallReserved(),
  ],
  ['reserve', 'a call after a pause was asked for', asked(event.PauseRequested()), event.ProviderCallReserved()],
  ['reserve', 'a call before the start', leased, event.ProviderCallReserved()],
  ['overrun', 'a call after an overrun', overrun, event.ProviderCallReserved({ call: 2, callKey: 'key-2' })],
  ['overrun', 'a bill above the worst case', open, event.ProviderCallSettled({ costUsd: milliUsd(101) })],
  ['overrun', 'a bill within it called one', open, event.ProviderCallSettled({ overrun: true })],
  [
    'overrun',
    'more tokens than a limit knows of',
    open,
    event.ProviderCallSettled({ usage: { ...usage, inputTokens: 91 } }),
  ],
  ['ledger', 'a call number left out', running, event.ProviderCallReserved({ call: 2 })],
  ['ledger', 'a key that is in flight', open, event.ProviderCallReserved({ call: 2 })],
  ['ledger', 'a hold taken over that is none', running, event.ProviderCallReserved({ takesOver: 1 })],
  ['ledger', 'a settlement of no call', running, event.ProviderCallSettled()],
  ['ledger', 'a settlement of a hold that is not called late', held, event.ProviderCallSettled()],
  [
    'ledger',
    'invalid usage below the worst case',
    open,
    event.ProviderCallSettled({ usage: null, usageInvalid: true }),
  ],
  [
    'ledger',
    'missing usage that is not marked',
    open,
    event.ProviderCallSettled({ usage: null, costUsd: milliUsd(100) }),
  ],
  ['ledger', 'a failure of no call', running, event.ProviderCallFailed()],
  ['ledger', 'a reconciliation of an open call', open, event.ProviderCallReconciled()],
  ['limits', 'a call beyond a limit', tight, event.ProviderCallReserved({ worstCase: amounts({ calls: 2 }) })],
  ['limits', 'examples beyond a limit', running, event.ExamplesAccepted({ count: 11 })],
  ['limits', 'a limit lowered', running, event.BudgetRaised({ limits: { maximumCalls: 9 } })],
]

const ruleBrokenBy = (before: readonly GivenEvent[], next: GivenEvent): string | undefined => {
  const { job } = given(...before)
  const last = historyOf([...before, next]).at(-1)
  return last === undefined ? undefined : illegality(job, last)?.rule
}

describe('the rules of a log', () => {
  test.each(breaks)('%s: finds %s', (rule, _what, before, next) => {
    expect(ruleBrokenBy(before, next)).toBe(rule)
  })

  test('gapless: finds an event that is missing, and a stream that does not begin at revision 0', () => {
    const [submitted, claimed] = historyOf(leased) as [FoldedEvent, FoldedEvent]
    const job = evolve(null, submitted)
    expect(illegality(job, { ...claimed, revision: 2 })?.rule).toBe('gapless')
    expect(illegality(job, { ...claimed, revision: 0 })?.rule).toBe('gapless')
    expect(illegality(null, { ...submitted, revision: 1 })?.rule).toBe('gapless')
  })

  test('transition: finds a stream that begins with anything but a submit', () => {
    const [, claimed] = historyOf(leased) as [FoldedEvent, FoldedEvent]
    expect(illegality(null, { ...claimed, revision: 0 })?.rule).toBe('transition')
  })

  test('are each broken by at least one of these tests', () => {
    const source = readFileSync(new URL('../../domain/job/legal.ts', import.meta.url), 'utf8')
    const rules = [...source.matchAll(/(?:\[|broken\()'([a-z_]+)',/g)].map(([, rule]) => rule)
    expect(new Set(['gapless', ...breaks.map(([rule]) => rule)])).toEqual(new Set(rules))
  })

  test('say in a sentence which event broke what', () => {
    const [, , , logged] = historyOf([...running, event.JobLogged({}, { token: 4 })])
    expect(illegality(given(...running).job, logged as FoldedEvent)?.message).toBe(
      "JobLogged at revision 3: token 4 is not the current lease's 1",
    )
  })
})

const historyFrom = (thrown: readonly Throw[]): readonly FoldedEvent[] => {
  let job: Job | null = null
  const events: FoldedEvent[] = []
  thrown.forEach((each, step) => {
    const sent = commandOf(each, job, step * 10)
    const decision = decide(sent, job)
    if (isRejection(decision)) return
    for (const placed of place(job, sent, decision)) {
      job = evolve(job, placed)
      events.push(placed)
    }
  })
  return events
}

/** The first rule broken in a whole history, as an audit finds it; null when there is none. */
const firstBroken = (events: readonly FoldedEvent[]): string | null => {
  let job: Job | null = null
  for (const each of events) {
    const broken = illegality(job, each)
    if (broken !== null) return broken.rule
    job = evolve(job, each)
  }
  return null
}

const renumbered = (events: readonly FoldedEvent[]): readonly FoldedEvent[] =>
  events.map((each, revision) => ({ ...each, revision }))

type Forgery = (events: readonly FoldedEvent[], at: number) => readonly FoldedEvent[] | null

const dropped: Forgery = (events, at) => events.toSpliced(at, 1)
const doubled: Forgery = (events, at) => events.toSpliced(at, 0, events[at] as FoldedEvent)
const swapped: Forgery = (events, at) => {
  const [left, right] = events.slice(at, at + 2)
  return left === undefined || right === undefined ? null : events.toSpliced(at, 2, right, left)
}
/** Changes one event of the kind it is written for, wherever in the history the next one stands. */
const changed =
  (change: (each: FoldedEvent) => FoldedEvent | null): Forgery =>
  (events, at) => {
    for (let index = at; index < events.length; index += 1) {
      const forged = change(events[index] as FoldedEvent)
      if (forged !== null) return events.with(index, forged)
    }
    return null
  }

/** These may stand behind the end of a lease, where no token is asked for any more. */
const maybeOwnerless: ReadonlySet<string> = new Set(['JobPaused', 'JobResumed', 'JobCancelling', 'JobCancelled'])
const otherToken = changed((each) =>
  each.meta.leaseToken === undefined || maybeOwnerless.has(each.type)
    ? null
    : { ...each, meta: { ...each.meta, leaseToken: each.meta.leaseToken + 1 } },
)
const otherCall = changed((each) =>
  each.type === 'ProviderCallReserved' || each.type === 'ProviderCallSettled' || each.type === 'ProviderCallFailed'
    ? ({ ...each, data: { ...each.data, call: each.data.call + 1_000 } } as FoldedEvent)
    : null,
)
const dearer = changed((each) =>
  each.type === 'ProviderCallSettled' && each.data.overrun === undefined
    ? { ...each, data: { ...each.data, costUsd: milliUsd(9_999) } }
    : null,
)
const otherStage = changed((each) =>
  each.type === 'StageCompleted' || each.type === 'CheckpointRecorded'
    ? ({ ...each, data: { ...each.data, stage: 'nowhere' } } as FoldedEvent)
    : null,
)

const seed = 20_260_102
const numRuns = 300
const commandsMax = 60

const aHistory = fc.array(aThrow, { minLength: 20, maxLength: commandsMax, size: 'max' }).map(historyFrom)
const longEnough = aHistory.filter((events) => events.length >= 3)
const samples = fc.sample(fc.tuple(longEnough, fc.nat(9_999)), { seed, numRuns })

/** The share of forged histories in which a broken rule is found. */
const shareFound = (forgery: Forgery, number: (events: readonly FoldedEvent[]) => readonly FoldedEvent[]): number => {
  // The last event has none behind it that could tell, so it is left alone.
  const forged = samples.flatMap(([events, at]) => {
    const history = forgery(events, at % (events.length - 1))
    return history === null ? [] : [history]
  })
  expect(forged.length).toBeGreaterThan(numRuns / 4)
  return forged.filter((events) => firstBroken(number(events)) !== null).length / forged.length
}

const asItStood = (events: readonly FoldedEvent[]) => events

describe(`a forged history (${numRuns} of a kind, seed ${seed})`, () => {
  test.each([
    ['an event is missing', dropped],
    ['an event stands there twice', doubled],
    ['two events have changed places', swapped],
  ])('in which %s is always found by the revisions', (_how, forgery) => {
    expect(shareFound(forgery, asItStood)).toBe(1)
  })

  test.each([
    ['the fencing token of an owner is another', otherToken],
    ['the number of a call is another', otherCall],
    ['a bill is above the worst case', dearer],
    ['the stage of a result is another', otherStage],
  ])('in which %s is always found, though the revisions have no gap', (_how, forgery) => {
    expect(shareFound(forgery, renumbered)).toBe(1)
  })

  // What changes no rule (a message left out, two requests in another order) only the chain of hashes can tell.
  test.each([
    ['an event is missing', 0.65, dropped],
    ['an event stands there twice', 0.75, doubled],
    ['two events have changed places', 0.55, swapped],
  ])('in which %s and the revisions were made to fit is found in more than %f of all cases', (_how, share, forgery) => {
    expect(shareFound(forgery, renumbered)).toBeGreaterThan(share)
  })
})
