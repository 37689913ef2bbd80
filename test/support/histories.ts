import type { Command } from '../../domain/job/commands.ts'
import { decide } from '../../domain/job/decide.ts'
import type { EventMeta, NewEvent } from '../../domain/job/events.ts'
import { evolve, type FoldedEvent } from '../../domain/job/evolve.ts'
import type { Job } from '../../domain/job/job.ts'
import { illegality } from '../../domain/job/legal.ts'
import { isRejection } from '../../domain/rejection.ts'
import { type GivenEvent, instant, jobId, projectId } from './controls.ts'

/** Events as they are told to a reader: type and data as JSON keeps them. */
export const told = (events: readonly NewEvent[]): readonly NewEvent[] =>
  events.map(({ type, data }) => JSON.parse(JSON.stringify({ type, data })) as NewEvent)

const tokenOf = (command: Command, event: NewEvent): number | undefined => {
  if (event.type === 'JobLeased') return event.data.token
  return 'token' in command && command.type !== 'ExpireLease' ? command.token : undefined
}

/** What was decided, in its place behind the job as it is, before it was written. */
export const unwritten = (job: Job | null, command: Command, events: readonly NewEvent[]): readonly FoldedEvent[] =>
  events.map((event, index) => {
    const token = tokenOf(command, event)
    const meta: EventMeta = {
      projectId,
      actor: command.actor,
      commandId: command.commandId,
      ...(token === undefined ? {} : { leaseToken: token }),
    }
    return { ...event, jobId, revision: (job?.revision ?? -1) + 1 + index, recordedAt: command.at, meta }
  })

/** What was decided, as it reads once it was written. */
export const place = (job: Job | null, command: Command, events: readonly NewEvent[]): readonly FoldedEvent[] =>
  unwritten(job, command, events).map(stored)

const stored = (event: FoldedEvent): FoldedEvent => JSON.parse(JSON.stringify(event)) as FoldedEvent

/** The job behind these events, each of which the log may hold. */
export const follow = (job: Job | null, events: readonly FoldedEvent[]): Job | null =>
  events.reduce((before, event) => {
    const broken = illegality(before, event)
    if (broken !== null) throw new Error(`an impossible history (${broken.rule}): ${broken.message}`)
    return evolve(before, event)
  }, job)

/** Written by people, or by whoever sees that an owner is silent, while somebody owns the job. */
const notTheOwners: ReadonlySet<string> = new Set([
  'PauseRequested',
  'JobResumed',
  'CancellationRequested',
  'BudgetRaised',
  'ProviderCallReconciled',
  'LeaseExpired',
])

/** Events one second apart, each written by whoever may write it at that point of the history. */
export const historyOf = (events: readonly GivenEvent[]): readonly FoldedEvent[] => {
  let owner: number | undefined
  return events.map(({ token, ...event }, revision) => {
    if (event.type === 'JobLeased') owner = event.data.token
    const leaseToken = token ?? (notTheOwners.has(event.type) ? undefined : owner)
    if (endsOwnership.has(event.type)) owner = undefined
    const meta = { projectId, actor: 'ann', commandId: `given-${revision}` }
    return stored({
      ...event,
      jobId,
      revision,
      recordedAt: instant(revision),
      meta: leaseToken === undefined ? meta : { ...meta, leaseToken },
    })
  })
}

const endsOwnership: ReadonlySet<string> = new Set([
  'LeaseExpired',
  'LeaseReleased',
  'RetryScheduled',
  'JobPaused',
  'JobCancelled',
  'JobSucceeded',
  'JobFailed',
])

/** The events of commands sent one after the other. A command that is refused is a fault of the test. */
const eventsOf = (...commands: readonly Command[]): readonly FoldedEvent[] => {
  let job: Job | null = null
  const events: FoldedEvent[] = []
  for (const command of commands) {
    const decision = decide(command, job)
    if (isRejection(decision)) throw new Error(`${command.type} was refused: ${decision.message}`)
    const placed = place(job, command, decision)
    job = follow(job, placed)
    events.push(...placed)
  }
  return events
}

/** The job after commands sent one after the other. */
export const jobAfter = (...commands: readonly Command[]): Job => {
  const job = follow(null, eventsOf(...commands))
  if (job === null) throw new Error('no command began a job')
  return job
}
