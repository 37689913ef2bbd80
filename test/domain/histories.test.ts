import { isDeepStrictEqual } from 'node:util'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { committed } from '../../domain/budget.ts'
import type { Command } from '../../domain/job/commands.ts'
import { decide } from '../../domain/job/decide.ts'
import { type Amounts, eventData, type Limits } from '../../domain/job/events.ts'
import { evolve, fold, type FoldedEvent } from '../../domain/job/evolve.ts'
import { isTerminal, type Job, jobStates } from '../../domain/job/job.ts'
import { illegality } from '../../domain/job/legal.ts'
import { isRejection } from '../../domain/rejection.ts'
import { again, eventTypes } from '../support/controls.ts'
import { place, unwritten } from '../support/histories.ts'
import { independentLedger, type Sums, sumsOf } from './independentLedger.ts'
import { aThrow, commandOf, type Throw } from './randomCommands.ts'

const seed = 20_260_101
const numRuns = 2_000
const commandsMax = 60

const peoples: ReadonlySet<string> = new Set([
  'SubmitJob',
  'PauseJob',
  'ResumeJob',
  'CancelJob',
  'RetryJob',
  'RaiseBudget',
  'ReconcileCall',
])

const deepFrozen = <T>(value: T): T => {
  if (value !== null && typeof value === 'object') {
    Object.freeze(value)
    Object.values(value).forEach(deepFrozen)
  }
  return value
}

const seen = {
  events: new Set<string>(),
  states: new Set<string>(),
  rejections: new Set<string>(),
  overruns: 0,
  histories: 0,
}

const withinLimits = (limits: Limits, total: Amounts, excess: Sums): void => {
  const { maximumCostUsd, maximumCalls, maximumInputTokens, maximumOutputTokens, maximumExamples } = limits
  const sums = sumsOf(total)
  const allowed = [
    [
      sums.nanoUsd,
      maximumCostUsd === null ? null : sumsOf({ ...total, costUsd: maximumCostUsd }).nanoUsd,
      excess.nanoUsd,
    ],
    [sums.calls, maximumCalls, excess.calls],
    [sums.inputTokens, maximumInputTokens, excess.inputTokens],
    [sums.outputTokens, maximumOutputTokens, excess.outputTokens],
    [sums.examples, maximumExamples, excess.examples],
  ] as const
  for (const [sum, limit, over] of allowed) {
    if (limit !== null && sum > BigInt(limit) + over) throw new Error(`${sum} is over ${limit} by more than ${over}`)
  }
}

/** Sends the commands to one job and checks every step. */
const live = (thrown: readonly Throw[]): void => {
  const ledger = independentLedger()
  const effective: Command[] = []
  const events: FoldedEvent[] = []
  let job: Job | null = null
  thrown.forEach((each, step) => {
    const sent = commandOf(each, job, step * 10)
    const before: Job | null = deepFrozen(job)
    const decision = decide(deepFrozen(sent), before)
    const known = effective[(each.kind * 31) % Math.max(1, effective.length)]
    if (known !== undefined) quiet(known, before)
    if (isRejection(decision)) {
      seen.rejections.add(decision.rejected)
      return
    }
    const placed = place(before, sent, decision)
    for (const event of placed) {
      eventData[event.type].parse(event.data)
      const broken = illegality(job, event)
      if (broken !== null) throw new Error(`${sent.type} decided what is illegal: ${broken.rule}, ${broken.message}`)
      if (job !== null && isTerminal(job.state) && !mayFollowTheEnd(job, event))
        throw new Error(`${event.type} at the end`)
      job = evolve(deepFrozen(job), deepFrozen(event))
      ledger.enter(event)
      seen.events.add(event.type)
      seen.states.add(job.state)
    }
    if (job === null) return
    // Whoever writes folds what it decided, and everybody else what was stored.
    alike(fold(before, unwritten(before, sent, decision)), job)
    if (placed.length > 0) {
      events.push(...placed)
      if (peoples.has(sent.type)) effective.push(sent)
    }
    quiet(sent, job)
    const { spent, held, reserved } = job.money
    alike({ spent: sumsOf(spent), held: sumsOf(held), reserved: sumsOf(reserved) }, ledger.sums())
    withinLimits(job.limits, committed(job.money), ledger.excess())
    if (job.overrun) seen.overruns += 1
  })
  for (const known of effective) quiet(known, job)
  foldsAlike(events, job)
  seen.histories += 1
}

// `expect` only words the difference: it is too slow to be asked a million times.
const alike = (actual: unknown, expected: unknown): void => {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toEqual(expected)
}

const quiet = (repeated: Command, job: Job | null): void => alike(decide(again(repeated), job), [])

const mayFollowTheEnd = (job: Job, event: FoldedEvent): boolean =>
  event.type === 'ProviderCallReconciled' || (job.state === 'failed' && event.type === 'JobRetried')

const foldsAlike = (events: readonly FoldedEvent[], oneByOne: Job | null): void => {
  const middle = Math.floor(events.length / 2)
  const early = deepFrozen(fold(null, deepFrozen(events.slice(0, middle))))
  const snapshot = deepFrozen(JSON.parse(JSON.stringify(early)) as Job | null)
  const late = events.slice(middle)
  for (const job of [fold(null, events), fold(early, late), fold(snapshot, late)]) alike(job, oneByOne)
}

describe(`${numRuns} random histories of up to ${commandsMax} commands (seed ${seed})`, () => {
  test('hold only legal events, repeat nothing, keep within every limit, add up to the last digit and fold alike', () => {
    fc.assert(
      fc.property(fc.array(aThrow, { minLength: 1, maxLength: commandsMax, size: 'max' }), (thrown) => {
        live(thrown)
      }),
      { seed, numRuns },
    )
    expect(seen.histories).toBe(numRuns)
  }, 60_000)

  test('went through every state, every event and every refusal a job knows', () => {
    expect(jobStates.filter((state) => !seen.states.has(state))).toEqual([])
    expect(eventTypes.filter((type) => !seen.events.has(type))).toEqual([])
    expect([...seen.rejections].sort()).toEqual(
      [
        'budget_exhausted',
        'call_in_flight',
        'call_not_held',
        'calls_open',
        'cancel_requested',
        'idempotency_conflict',
        'job_state',
        'lease_lost',
        'limit_lower',
        'not_due',
        'overrun',
        'pause_requested',
        'policy_block',
        'unreconciled_calls',
        'wrong_stage',
      ].sort(),
    )
    expect(seen.overruns).toBeGreaterThan(100)
  })
})
