import { describe, expect, test } from 'vitest'
import type { Command, CommandType } from '../../domain/job/commands.ts'
import { decide } from '../../domain/job/decide.ts'
import { type JobState, jobStates } from '../../domain/job/job.ts'
import { isRejection } from '../../domain/rejection.ts'
import { amounts, command, commandTypes, event, type GivenEvent, limits, sha, spec } from '../support/controls.ts'
import { given } from '../support/given.ts'
import { follow, place } from '../support/histories.ts'

/** Every way a job can stand when a command reaches it: state, and what was asked for or is open besides. */
const stages = [event.StageCompleted(), event.StageCompleted({ stage: 'generate' })]
const call = event.ProviderCallReserved()
const pauseAsked = event.PauseRequested()
const cancelAsked = event.CancellationRequested()
const queued = [event.JobSubmitted()]
const leased = [...queued, event.JobLeased()]
const running = [...leased, event.JobStarted()]
const exhausted = event.BudgetExhausted({ needs: amounts({ calls: 11 }) })
const lastLease = [event.JobSubmitted(spec({ maxLostLeases: 1 })), event.JobLeased()]
const lastAttempt = [event.JobSubmitted(spec({ maxAttempts: 1 })), event.JobLeased(), event.JobStarted()]
const pausing = [...running, pauseAsked, event.JobPausing()]
const cancelling = [...running, cancelAsked, event.JobCancelling()]
const failed = [...running, event.JobFailed()]
const fencedOff = [event.JobLeased(), event.LeaseReleased(), event.JobLeased({ token: 2 })]

const situations = {
  'no job': [],
  queued,
  'queued, resumed before': [...pausing, event.JobPaused(), event.JobResumed()],
  'queued, retried before': [...failed, event.JobRetried()],
  leased,
  'leased, pause asked': [...leased, pauseAsked],
  'leased, cancel asked': [...leased, cancelAsked],
  'leased, both asked': [...leased, pauseAsked, cancelAsked],
  'leased, last lease to lose': lastLease,
  'leased by another': [...queued, ...fencedOff],
  running,
  'running, pause asked': [...running, pauseAsked],
  'running, cancel asked': [...running, cancelAsked],
  'running, both asked': [...running, pauseAsked, cancelAsked],
  'running, call open': [...running, call],
  'running, call open, pause asked': [...running, call, pauseAsked],
  'running, call open, cancel asked': [...running, call, cancelAsked],
  'running, call held': [...running, call, event.ProviderCallFailed()],
  'running, all stages complete': [...running, ...stages],
  'running, all stages complete, pause asked': [...running, ...stages, pauseAsked],
  'running, all stages complete, cancel asked': [...running, ...stages, cancelAsked],
  'running, last lease to lose': [...lastLease, event.JobStarted()],
  'running, last lease to lose, pause asked': [...lastLease, event.JobStarted(), pauseAsked],
  'running, last attempt': lastAttempt,
  'running, last attempt, cancel asked': [...lastAttempt, cancelAsked],
  'running for another': [...queued, ...fencedOff, event.JobStarted()],
  retry_wait: [...running, event.RetryScheduled()],
  pausing,
  'pausing, resume asked': [...pausing, event.JobResumed()],
  'pausing, cancel asked': [...pausing, cancelAsked],
  'pausing, call open': [...running, call, pauseAsked, event.JobPausing()],
  'pausing, budget exhausted': [...running, exhausted, event.JobPausing({ reason: 'budget_exhausted' })],
  paused: [...pausing, event.JobPaused()],
  'paused, budget exhausted': [
    ...running,
    exhausted,
    event.JobPausing({ reason: 'budget_exhausted' }),
    event.JobPaused({ reason: 'budget_exhausted' }),
  ],
  cancelling,
  'cancelling, call open': [...running, call, cancelAsked, event.JobCancelling()],
  cancelled: [...cancelling, event.JobCancelled()],
  succeeded: [...running, ...stages, event.JobSucceeded()],
  failed,
  'failed, call held': [...running, call, event.ProviderCallFailed(), event.JobFailed()],
  'failed by policy': [...running, event.JobFailed({ errorKind: 'policy_block' })],
} satisfies Readonly<Record<string, readonly GivenEvent[]>>
type Situation = keyof typeof situations

const hopeless = { errorCode: 'bug', errorSummary: 'a bug', errorKind: 'bug' as const, retryable: false }
const at = { stage: 'generate' }

/** Every command; where the answer depends on what it says, in each of its forms. */
const commands = {
  ...(Object.fromEntries(commandTypes.map((type) => [type, command[type]()])) as { [T in CommandType]: Command }),
  'SubmitJob of another configuration': command.SubmitJob({ spec: spec({ inputConfigHash: sha('9') }) }),
  'ResumeJob with more': command.ResumeJob({ limits: { maximumCalls: 11 } }),
  'RaiseBudget to less': command.RaiseBudget({ limits: limits({ maximumCalls: 1 }) }),
  'ExpireLease of a job whose owner wrote since': command.ExpireLease({ ownerRevision: 0 }),
  'ElapseBackoff of another wait': command.ElapseBackoff({ retryRevision: 1 }),
  'FailAttempt without hope': command.FailAttempt({ failure: hopeless }),
  'BeginPause for the budget': command.BeginPause({
    reason: 'budget_exhausted',
    exhausted: { limit: 'maximumCalls', needs: amounts() },
  }),
  'RecordCheckpoint of a later stage': command.RecordCheckpoint(at),
  'CompleteStage of a later stage': command.CompleteStage(at),
  'ReserveCall beyond the budget': command.ReserveCall({ worstCase: amounts({ calls: 11 }) }),
  'ReserveCall with another key': command.ReserveCall({ callKey: 'key-2' }),
} satisfies Readonly<Record<string, Command>>
type Asked = keyof typeof commands

type Row = {
  /** Commands that move the job, and the state they leave it in. */
  readonly moves?: Partial<Record<Asked, JobState>>
  /** Commands that are written down and leave the state as it is. */
  readonly records?: readonly Asked[]
}

const anyOwner = ['RenewLease', 'LogJob'] as const
const anyOpenJob = ['RaiseBudget'] as const
/** What an owner may write down between start and end, in the first stage. */
const inFirstStage = [
  ...anyOwner,
  'RecordCheckpoint',
  'CompleteStage',
  'InvalidateCheckpoint',
  'AcceptExamples',
] as const
const withOpenCall = [
  ...anyOwner,
  'RecordCheckpoint',
  'InvalidateCheckpoint',
  'AcceptExamples',
  'SettleCall',
  'FailCall',
] as const
const afterLastStage = [...anyOwner, 'InvalidateCheckpoint'] as const
const reserves = ['ReserveCall', 'ReserveCall with another key'] as const

const failing = { FailAttempt: 'retry_wait', 'FailAttempt without hope': 'failed', WaitOut: 'retry_wait' } as const
const pausingOnes = { BeginPause: 'pausing', 'BeginPause for the budget': 'pausing' } as const
const cancelledByEnd = {
  FailAttempt: 'cancelled',
  'FailAttempt without hope': 'cancelled',
  WaitOut: 'cancelled',
} as const
const ended = { ReleaseLease: 'queued', ExpireLease: 'queued' } as const
const endedPaused = { ReleaseLease: 'paused', ExpireLease: 'paused' } as const
const endedCancelled = { ReleaseLease: 'cancelled', ExpireLease: 'cancelled' } as const
const askable = [...anyOpenJob, 'PauseJob', 'CancelJob'] as const

/** The net effect of every pair. Whatever is not here is refused or quiet, and leaves the job exactly as it was. */
const table: Readonly<Record<Situation, Row>> = {
  'no job': { moves: { SubmitJob: 'queued', 'SubmitJob of another configuration': 'queued' } },

  queued: { moves: { ClaimJob: 'leased', PauseJob: 'paused', CancelJob: 'cancelled' }, records: anyOpenJob },
  'queued, resumed before': {
    moves: { ClaimJob: 'leased', PauseJob: 'paused', CancelJob: 'cancelled' },
    records: anyOpenJob,
  },
  'queued, retried before': {
    moves: { ClaimJob: 'leased', PauseJob: 'paused', CancelJob: 'cancelled' },
    records: anyOpenJob,
  },

  leased: { moves: { StartJob: 'running', ...ended }, records: [...anyOwner, ...askable] },
  'leased, pause asked': {
    moves: { StartJob: 'paused', ...endedPaused },
    records: [...anyOwner, ...anyOpenJob, 'CancelJob', 'ResumeJob', 'ResumeJob with more'],
  },
  'leased, cancel asked': {
    moves: { StartJob: 'cancelled', ...endedCancelled },
    records: [...anyOwner, ...anyOpenJob, 'PauseJob'],
  },
  'leased, both asked': {
    moves: { StartJob: 'cancelled', ...endedCancelled },
    records: [...anyOwner, ...anyOpenJob],
  },
  'leased, last lease to lose': {
    moves: { StartJob: 'running', ReleaseLease: 'queued', ExpireLease: 'failed' },
    records: [...anyOwner, ...askable],
  },
  'leased by another': { records: askable },

  running: { moves: { ...pausingOnes, ...failing, ...ended }, records: [...inFirstStage, ...reserves, ...askable] },
  'running, pause asked': {
    moves: {
      ...pausingOnes,
      ...endedPaused,
      FailAttempt: 'paused',
      WaitOut: 'paused',
      'FailAttempt without hope': 'failed',
    },
    records: [...inFirstStage, ...anyOpenJob, 'CancelJob', 'ResumeJob', 'ResumeJob with more'],
  },
  'running, cancel asked': {
    moves: {
      ...pausingOnes,
      ...endedCancelled,
      ...cancelledByEnd,
      BeginCancel: 'cancelling',
      SucceedJob: 'cancelled',
    },
    records: [...inFirstStage, ...anyOpenJob, 'PauseJob'],
  },
  'running, both asked': {
    moves: {
      ...pausingOnes,
      ...endedCancelled,
      ...cancelledByEnd,
      BeginCancel: 'cancelling',
      SucceedJob: 'cancelled',
    },
    records: [...inFirstStage, ...anyOpenJob],
  },
  'running, call open': {
    moves: { ...pausingOnes, ExpireLease: 'queued' },
    records: [...withOpenCall, ...askable, 'ReserveCall with another key'],
  },
  'running, call open, pause asked': {
    moves: { ...pausingOnes, ExpireLease: 'paused' },
    records: [...withOpenCall, ...anyOpenJob, 'CancelJob', 'ResumeJob', 'ResumeJob with more'],
  },
  'running, call open, cancel asked': {
    moves: { ...pausingOnes, ExpireLease: 'cancelled', BeginCancel: 'cancelling' },
    records: [...withOpenCall, ...anyOpenJob, 'PauseJob'],
  },
  'running, call held': {
    moves: { ...pausingOnes, ...failing, ...ended },
    records: [...inFirstStage, ...reserves, ...askable, 'SettleCall', 'ReconcileCall'],
  },
  'running, all stages complete': {
    moves: { ...pausingOnes, ...failing, ...ended, SucceedJob: 'succeeded' },
    records: [...afterLastStage, ...askable],
  },
  'running, all stages complete, pause asked': {
    moves: {
      ...pausingOnes,
      ...endedPaused,
      FailAttempt: 'paused',
      WaitOut: 'paused',
      'FailAttempt without hope': 'failed',
      SucceedJob: 'succeeded',
    },
    records: [...afterLastStage, ...anyOpenJob, 'CancelJob', 'ResumeJob', 'ResumeJob with more'],
  },
  'running, all stages complete, cancel asked': {
    moves: {
      ...pausingOnes,
      ...endedCancelled,
      ...cancelledByEnd,
      BeginCancel: 'cancelling',
      SucceedJob: 'cancelled',
    },
    records: [...afterLastStage, ...anyOpenJob, 'PauseJob'],
  },
  'running, last lease to lose': {
    moves: { ...pausingOnes, ...failing, ReleaseLease: 'queued', ExpireLease: 'failed' },
    records: [...inFirstStage, ...reserves, ...askable],
  },
  'running, last lease to lose, pause asked': {
    moves: {
      ...pausingOnes,
      ...endedPaused,
      FailAttempt: 'paused',
      WaitOut: 'paused',
      'FailAttempt without hope': 'failed',
    },
    records: [...inFirstStage, ...anyOpenJob, 'CancelJob', 'ResumeJob', 'ResumeJob with more'],
  },
  'running, last attempt': {
    moves: { ...pausingOnes, ...failing, ...ended, FailAttempt: 'failed' },
    records: [...inFirstStage, ...reserves, ...askable],
  },
  'running, last attempt, cancel asked': {
    moves: {
      ...pausingOnes,
      ...endedCancelled,
      ...cancelledByEnd,
      BeginCancel: 'cancelling',
      SucceedJob: 'cancelled',
    },
    records: [...inFirstStage, ...anyOpenJob, 'PauseJob'],
  },
  'running for another': { records: askable },

  retry_wait: { moves: { ElapseBackoff: 'queued', PauseJob: 'paused', CancelJob: 'cancelled' }, records: anyOpenJob },

  pausing: {
    moves: { FinishPause: 'paused', ...endedPaused },
    records: [...inFirstStage, ...anyOpenJob, 'CancelJob', 'ResumeJob', 'ResumeJob with more'],
  },
  'pausing, resume asked': {
    moves: { FinishPause: 'queued', ...ended },
    records: [...inFirstStage, ...anyOpenJob, 'CancelJob', 'PauseJob', 'ResumeJob with more'],
  },
  'pausing, cancel asked': {
    moves: { FinishPause: 'cancelled', BeginCancel: 'cancelling', ...endedCancelled },
    records: [...inFirstStage, ...anyOpenJob],
  },
  'pausing, call open': {
    moves: { ExpireLease: 'paused' },
    records: [...withOpenCall, ...anyOpenJob, 'CancelJob', 'ResumeJob', 'ResumeJob with more'],
  },
  'pausing, budget exhausted': {
    moves: { FinishPause: 'paused', ...endedPaused },
    records: [...inFirstStage, ...anyOpenJob, 'CancelJob', 'ResumeJob with more'],
  },

  paused: {
    moves: { ResumeJob: 'queued', 'ResumeJob with more': 'queued', CancelJob: 'cancelled' },
    records: anyOpenJob,
  },
  'paused, budget exhausted': {
    moves: { 'ResumeJob with more': 'queued', CancelJob: 'cancelled' },
    records: anyOpenJob,
  },

  cancelling: {
    moves: { FinishCancel: 'cancelled', SucceedJob: 'cancelled', ...cancelledByEnd, ...endedCancelled },
    records: [...inFirstStage, ...anyOpenJob],
  },
  'cancelling, call open': { moves: { ExpireLease: 'cancelled' }, records: [...withOpenCall, ...anyOpenJob] },

  cancelled: {},
  succeeded: {},
  failed: { moves: { RetryJob: 'queued' } },
  'failed, call held': { moves: { RetryJob: 'queued' }, records: ['ReconcileCall'] },
  'failed by policy': {},
}

const judge = (situation: Situation, asked: Asked): string => {
  const { job } = given(...situations[situation])
  const before = JSON.stringify(job)
  const decision = decide(commands[asked], job)
  const after = isRejection(decision) ? job : follow(job, place(job, commands[asked], decision))
  if (JSON.stringify(job) !== before) return 'changes the job it was given'
  if (isRejection(decision) || decision.length === 0) return 'leaves the job as it was'
  return after?.state === job?.state ? 'is written down' : `leads to ${after?.state}`
}

const expected = (situation: Situation, asked: Asked): string => {
  const { moves = {}, records = [] } = table[situation]
  const to: JobState | undefined = moves[asked]
  if (to !== undefined) return `leads to ${to}`
  return records.includes(asked) ? 'is written down' : 'leaves the job as it was'
}

const allSituations = Object.keys(situations) as readonly Situation[]
const allAsked = Object.keys(commands) as readonly Asked[]

describe('the state machine', () => {
  test.each(allSituations)(
    'answers every command to a job that is in the situation "%s" as the table says',
    (situation) => {
      const answers = (answer: typeof judge) =>
        Object.fromEntries(allAsked.map((asked) => [asked, answer(situation, asked)]))
      expect(answers(judge)).toEqual(answers(expected))
    },
  )

  test('is walked from every state with every command', () => {
    const states = allSituations.map((situation) => given(...situations[situation]).job?.state)
    expect(new Set(states)).toEqual(new Set([undefined, ...jobStates]))
    expect(new Set(allAsked.map((asked) => commands[asked].type))).toEqual(new Set(commandTypes))
  })

  test('has exactly the net transitions that the design lists', () => {
    const net = allSituations.flatMap((situation) => {
      const from = given(...situations[situation]).job?.state ?? 'none'
      return Object.values(table[situation].moves ?? {}).map((to) => `${from} -> ${to}`)
    })
    expect([...new Set(net)].sort()).toEqual([...designed].sort())
  })
})

/** DESIGN.md section 5, what a person sees before and after one command. */
const designed = [
  'none -> queued', // submit
  'queued -> leased', // claim
  'leased -> running', // start
  'leased -> queued', // lease lost or released
  'running -> succeeded',
  'running -> failed',
  'running -> retry_wait',
  'retry_wait -> queued', // backoff elapsed
  'running -> pausing',
  'pausing -> paused',
  'paused -> queued', // resume
  'running -> cancelling',
  'cancelling -> cancelled',
  'failed -> queued', // explicit retry
  'running -> queued', // the lease expired or was released
  'leased -> failed', // worker_lost
  'pausing -> cancelling', // cancel beats pause
  'pausing -> queued', // resume recorded while flushing
  'queued -> cancelled',
  'retry_wait -> cancelled',
  'paused -> cancelled',
  'queued -> paused',
  'retry_wait -> paused',
  // Whatever append ends ownership also carries out a recorded request, so these pass a state in between:
  'leased -> paused',
  'leased -> cancelled',
  'running -> paused',
  'running -> cancelled',
  'pausing -> cancelled',
]
