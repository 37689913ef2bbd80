import { JobId } from '../../domain/ids.ts'
import { beforeAll, type EventStore, type StoredEvent } from '../../domain/ports/eventStore.ts'
import { ofArriving, ofKey, ofRecord, ofSending } from './invariants.ts'
import { enter, jobOf, type JobRecord, keyOf, known, newRecord } from './jobRecord.ts'
import type { Send } from './provider.ts'

export type Watch = {
  /** The store that is watched: what lands in it is judged at once. */
  readonly events: EventStore
  readonly records: ReadonlyMap<JobId, JobRecord>
  /** From here on nothing goes wrong any more. */
  calm(): void
  calmSinceMs(): number
  sent(send: Send, workerId: string): void
  billed(send: Send): void
  broken(invariant: string, message: string): void
  /** Notes what is wrong with a job, if anything is. */
  note(invariant: string, record: JobRecord, broken: string | null): void
  readonly violations: readonly string[]
  /** How often each kind of thing happened. */
  readonly counts: Map<string, number>
  count(what: string): void
}

/** Judges every event that lands, every request that is sent and every bill, by the rules of `invariants.ts`. */
export const watch = (
  inner: EventStore,
  world: {
    readonly replays: boolean
    now(): number
    isDead(workerId: string): boolean
    onAppend(event: StoredEvent): void
  },
): Watch => {
  const records = new Map<JobId, JobRecord>()
  const revisions = new Map<string, number>()
  const violations: string[] = []
  const counts = new Map<string, number>()
  let lastPosition = beforeAll
  let calmSinceMs = Infinity

  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1)
  const broken = (invariant: string, message: string): void => void violations.push(`${invariant}: ${message}`)
  const judge = <Args extends readonly unknown[]>(
    rules: Readonly<Record<string, (...args: Args) => string | null>>,
    where: string,
    ...args: Args
  ): void => {
    for (const [name, rule] of Object.entries(rules)) {
      const message = rule(...args)
      if (message !== null) broken(name, `${where}: ${message}`)
    }
  }
  const judgeKey = (record: JobRecord, callKey: string): void =>
    judge(ofKey, `job ${record.jobId}`, record, callKey, world.replays)

  const recordOf = (jobId: JobId): JobRecord => {
    const record = records.get(jobId) ?? newRecord(jobId)
    records.set(jobId, record)
    return record
  }

  const see = (stored: StoredEvent): void => {
    if (stored.position <= lastPosition) broken('positionsRise', `${stored.position} follows ${lastPosition}`)
    lastPosition = stored.position
    revisions.set(stored.stream, stored.revision)
    world.onAppend(stored)
    count(stored.type)
    const jobId = jobOf(stored)
    if (jobId === null) return
    const record = recordOf(jobId)
    const event = known(stored)
    const where = `${stored.type} at revision ${stored.revision} of job ${jobId}`
    const nowMs = world.now()
    judge(ofArriving, where, { record, event, stored, world: { nowMs, calmSinceMs, isDead: world.isDead } })
    const before = new Map([...record.calls.values()].map((call) => [call.call, call.state]))
    enter(record, event, stored, nowMs)
    judge(ofRecord, where, record)
    if (event.type === 'ProviderCallReserved' && event.data.takesOver !== undefined) count('takeover')
    if (event.type === 'ProviderCallSettled') {
      if (event.data.late) count('late settlement')
      if (event.data.overrun) count('overrun')
      if (event.data.usageInvalid) count('usage invalid')
    }
    for (const call of record.calls.values()) {
      if (before.get(call.call) !== call.state) judgeKey(record, call.callKey)
    }
  }

  const append: EventStore['append'] = async (stream, sealed, expected) => {
    try {
      await inner.append(stream, sealed, expected)
    } catch (error) {
      count('append refused')
      throw error
    }
    const landed = await inner.readStream(stream, { from: (revisions.get(stream) ?? -1) + 1 })
    if (landed.length === 0) count('append repeated')
    const [first] = landed
    const jobId = first === undefined ? null : jobOf(first)
    if (jobId !== null) recordOf(jobId).appends += 1
    landed.forEach(see)
  }

  return {
    events: { ...inner, append },
    records,
    violations,
    counts,
    count,
    broken,
    calm() {
      calmSinceMs = world.now()
    },
    calmSinceMs: () => calmSinceMs,
    note(invariant, { jobId }, message) {
      if (message !== null) broken(invariant, `job ${jobId}: ${message}`)
    },
    sent(send, workerId) {
      count('send')
      const record = records.get(JobId.parse(send.callKey.split(':')[0]))
      const { calls, sends } = record === undefined ? { calls: [], sends: [] } : keyOf(record, send.callKey)
      const call = calls.find((each) => each.state === 'reserved')
      if (record === undefined || call === undefined) {
        return broken('everySendIsReserved', `send ${send.number} of ${send.callKey} by ${workerId} has no open reservation`)
      }
      judge(ofSending, `send ${send.number} of job ${record.jobId}`, { record, call, send, workerId })
      call.send = send
      sends.push(send)
    },
    billed(send) {
      count('bill')
      const record = records.get(JobId.parse(send.callKey.split(':')[0]))
      if (record !== undefined) judgeKey(record, send.callKey)
    },
  }
}
