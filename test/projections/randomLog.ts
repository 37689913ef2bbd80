import { Command, type CommandType } from '../../domain/job/commands.ts'
import { decide } from '../../domain/job/decide.ts'
import type { JobEvent } from '../../domain/job/events.ts'
import { evolve } from '../../domain/job/evolve.ts'
import { isTerminal, type Job, stageAtWork } from '../../domain/job/job.ts'
import { addUsd, nanoUsd, zeroUsd } from '../../domain/money.ts'
import { isRejection } from '../../domain/rejection.ts'
import { amounts, command, commandTypes, instant, limits, milliUsd, noLimits, spec } from '../support/controls.ts'
import { jobIdOf } from './loggedJob.ts'

export type Dice = { below(limit: number): number; oneOf<T>(choices: readonly T[]): T; chance(of: number): boolean }

/** Chance from a seed (mulberry32). */
export const diceOf = (seed: number): Dice => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    below,
    oneOf: (choices) => {
      const choice = choices[below(choices.length)]
      if (choice === undefined) throw new Error('nothing to choose from')
      return choice
    },
    chance: (of) => next() < of,
  }
}

const stages = ['intake', 'generate', 'export']
const seconds = (dice: Dice): number => (dice.chance(0.02) ? 50_000 : dice.below(40))

const submission = (dice: Dice, job: number, at: string): Command =>
  command.SubmitJob({
    at,
    commandId: `submit-${job}`,
    spec: spec({
      projectId: dice.oneOf(['default', 'odd|name=%']),
      type: dice.oneOf(['batch', 'dataset']),
      stages,
      labels: dice.oneOf<Record<string, string>>([{}, { team: 'red' }, { team: 'blue', '7': 'a|b=c' }]),
      priority: dice.below(3) - 1,
      startAfter: dice.chance(0.3) ? instant(dice.below(2_000)) : null,
      priceProfile: dice.chance(0.8) ? spec().priceProfile : null,
      limits: dice.chance(0.5) ? { ...noLimits, maximumExamples: 50 } : limits({ maximumCalls: 6 }),
      maxLostLeases: 2,
      maxAttempts: 2,
    }),
  })

const often: Readonly<Partial<Record<CommandType, number>>> = {
  ClaimJob: 30,
  StartJob: 30,
  ResumeJob: 10,
  ElapseBackoff: 10,
  RetryJob: 10,
  ReserveCall: 40,
  SettleCall: 25,
  FailCall: 15,
  ReconcileCall: 8,
  CompleteStage: 8,
  RecordCheckpoint: 6,
  BeginCancel: 20,
  SucceedJob: 20,
  CancelJob: 1,
}
/** What a command may carry, beside what its example does. */
const optional: Readonly<Partial<Record<CommandType, readonly string[]>>> = {
  RenewLease: ['progress'],
  ReleaseLease: ['progress'],
  FailAttempt: ['progress'],
  WaitOut: ['progress'],
  FinishPause: ['progress'],
  FinishCancel: ['progress'],
  RecordCheckpoint: ['progress'],
  CompleteStage: ['progress'],
  SettleCall: ['progress'],
  ReserveCall: ['takesOver'],
}
const likely = commandTypes.flatMap((type) => Array.from({ length: often[type] ?? 3 }, () => type))

const callOf = (dice: Dice, calls: object): number => Number(dice.oneOf([1, ...Object.keys(calls)]))

/** Some command or other, mostly one that fits the job as it is. */
const someCommand = (dice: Dice, job: Job, step: number, at: string): Command => {
  const type = dice.oneOf(likely)
  const worst = amounts({ costUsd: milliUsd(10 + dice.below(90)), examples: 0 })
  const call = callOf(dice, dice.chance(0.7) ? job.open : job.holds)
  const takesOver = dice.chance(0.5) ? Object.entries(job.holds)[0] : undefined
  const wanted: Record<string, unknown> = {
    at,
    commandId: `${job.jobId}-${step}`,
    token: Math.max(1, job.lastToken),
    ownerRevision: job.revision,
    retryRevision: job.retry?.revision ?? 0,
    stage: type === 'InvalidateCheckpoint' ? dice.oneOf(stages) : (stageAtWork(job) ?? 'none'),
    spec: job.spec,
    call,
    callKey: takesOver === undefined ? `key-${step}` : takesOver[1].callKey,
    provider: dice.oneOf(['offline', 'openai']),
    model: dice.oneOf(['small', 'large']),
    worstCase: worst,
    costUsd: milliUsd(dice.below(dice.chance(0.1) ? 300 : 90)),
    usage: dice.chance(0.2) ? null : command.SettleCall().usage,
    billed: type === 'FailCall' ? dice.oneOf(['no', 'unknown']) : dice.chance(0.5),
    reason: command[type]({}).type === 'BeginPause' ? dice.oneOf(['user', 'overrun', 'unknown_outcome']) : undefined,
    progress: dice.chance(0.5) ? { done: step, total: null, unit: 'lines' } : undefined,
    limits: { maximumCostUsd: addUsd(job.limits.maximumCostUsd ?? zeroUsd, milliUsd(500)), maximumCalls: 1_000 },
    takesOver: takesOver === undefined ? undefined : Number(takesOver[0]),
  }
  if (type === 'RaiseBudget' && nanoUsd(job.limits.maximumCostUsd ?? zeroUsd) === 0n) wanted['limits'] = {}
  const example: object = command[type]()
  const overrides = Object.entries(wanted).filter(
    ([name, value]) => value !== undefined && (name in example || optional[type]?.includes(name)),
  )
  return Command.parse({ ...example, ...Object.fromEntries(overrides) })
}

/** A job's fold of itself after an event. */
export type Witnessed = { readonly event: JobEvent; readonly job: Job }

/**
 * A log of `jobs` open jobs at once, as `decide` lets it come about under random commands, and each job as the domain
 * folds it after each event.
 */
export const randomLog = (dice: Dice, { jobs, steps }: { jobs: number; steps: number }): readonly Witnessed[] => {
  const states = new Map<number, Job>()
  const log: Witnessed[] = []
  const open = Array.from({ length: jobs }, (_, index) => index + 1)
  let now = 0
  for (let step = 0; step < steps; step += 1) {
    now += seconds(dice)
    const place = dice.below(jobs)
    const number = open[place] ?? 0
    const at = instant(now)
    const before = states.get(number) ?? null
    const wanted = before === null ? submission(dice, number, at) : someCommand(dice, before, step, at)
    const decision = decide(wanted, before)
    if (isRejection(decision)) continue
    let job = before
    for (const decided of decision) {
      const leaseToken = decided.type === 'JobLeased' ? decided.data.token : 'token' in wanted ? wanted.token : undefined
      const revision = job === null ? 0 : job.revision + 1
      const projectId = job?.spec.projectId ?? (wanted.type === 'SubmitJob' ? wanted.spec.projectId : '')
      const meta = { projectId, actor: wanted.actor, commandId: wanted.commandId }
      const event = JSON.parse(
        JSON.stringify({
          ...decided,
          id: `event-${log.length + 1}`,
          schemaVersion: 1,
          jobId: jobIdOf(number),
          revision,
          position: String(log.length + 1).padStart(16, '0'),
          recordedAt: at,
          hash: '',
          meta: leaseToken === undefined || wanted.type === 'ExpireLease' ? meta : { ...meta, leaseToken },
        }),
      ) as JobEvent
      job = evolve(job, event)
      log.push({ event, job })
    }
    if (job !== null) states.set(number, job)
    const mayGoOn = job?.state === 'failed' || Object.keys(job?.holds ?? {}).length > 0
    if (job !== null && isTerminal(job.state) && !(mayGoOn && dice.chance(0.8))) open[place] = Math.max(...open) + 1
  }
  return log
}
