import { type JobId, jobOfStream, jobStream } from '../../domain/ids.ts'
import { evolve } from '../../domain/job/evolve.ts'
import type { JobEvent } from '../../domain/job/events.ts'
import type { Job } from '../../domain/job/job.ts'
import { isKnown, readEvent } from '../../domain/job/readEvent.ts'
import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import { chainStart } from '../../domain/seal.ts'
import { sha256 } from '../../adapters/system/sha256.ts'
import { independentLedger } from '../domain/independentLedger.ts'
import type { Send } from './provider.ts'
import { nano } from './truth.ts'

export type CallRecord = {
  readonly call: number
  readonly callKey: string
  readonly fingerprint: string
  readonly token: number
  readonly worstNanoUsd: bigint
  state: 'reserved' | 'held' | 'settled' | 'failed' | 'takenOver' | 'reconciled'
  /** What the ledger counts for it now. */
  countedNanoUsd: bigint
  send: Send | null
}

/** One job as the simulator knows it: from the log alone, kept apart from anything the engine keeps. */
export type JobRecord = {
  readonly jobId: JobId
  job: Job | null
  revision: number
  hash: string
  appends: number
  /** When the owner's last event and its claim landed, in milliseconds of the world. */
  ownerLandedAtMs: number
  claimLandedAtMs: number
  readonly ledger: ReturnType<typeof independentLedger>
  readonly calls: Map<number, CallRecord>
  readonly keys: Map<string, { readonly calls: CallRecord[]; readonly sends: Send[] }>
  /** Fingerprints of completed calls. */
  readonly settled: Set<string>
  /** Which append the events of a command stand in. */
  readonly commands: Map<string, number>
  /** Checkpoints and accepted examples, by stage and key. */
  readonly recorded: Set<string>
}

export const newRecord = (jobId: JobId): JobRecord => ({
  jobId,
  job: null,
  revision: -1,
  hash: chainStart(jobStream(jobId), sha256),
  appends: 0,
  ownerLandedAtMs: 0,
  claimLandedAtMs: 0,
  ledger: independentLedger(),
  calls: new Map(),
  keys: new Map(),
  settled: new Set(),
  commands: new Map(),
  recorded: new Set(),
})

export const jobOf = (stored: StoredEvent): JobId | null => jobOfStream(stored.stream)

export const known = (stored: StoredEvent): JobEvent => {
  const event = readEvent(stored)
  if (!isKnown(event)) throw new Error(`nobody here writes ${event.storedType}`)
  return event
}

export const placeOf = (event: JobEvent): string | null =>
  event.type === 'CheckpointRecorded' || event.type === 'ExamplesAccepted'
    ? JSON.stringify([event.type, event.data.stage, event.data.key])
    : null

export const keyOf = (record: JobRecord, callKey: string): { calls: CallRecord[]; sends: Send[] } => {
  const found = record.keys.get(callKey) ?? { calls: [], sends: [] }
  record.keys.set(callKey, found)
  return found
}

/** Takes one event in. */
export const enter = (record: JobRecord, event: JobEvent, stored: StoredEvent, nowMs: number): void => {
  if (event.meta.leaseToken !== undefined) record.ownerLandedAtMs = nowMs
  if (event.type === 'JobLeased') record.claimLandedAtMs = nowMs
  record.job = evolve(record.job, event)
  record.revision = event.revision
  record.hash = stored.hash
  record.ledger.enter(event)
  record.commands.set(event.meta.commandId, record.appends)
  const place = placeOf(event)
  if (place !== null) record.recorded.add(place)
  enterCall(record, event)
}

const enterCall = (record: JobRecord, event: JobEvent): void => {
  const set = (call: number, state: CallRecord['state'], countedNanoUsd?: bigint): void => {
    const found = record.calls.get(call)
    if (found === undefined) return
    found.state = state
    if (countedNanoUsd !== undefined) found.countedNanoUsd = countedNanoUsd
  }
  switch (event.type) {
    case 'ProviderCallReserved': {
      const { call, callKey, fingerprint, worstCase, takesOver } = event.data
      const worstNanoUsd = nano(worstCase.costUsd)
      const token = event.meta.leaseToken ?? 0
      const made: CallRecord = {
        call,
        callKey,
        fingerprint,
        token,
        worstNanoUsd,
        state: 'reserved',
        countedNanoUsd: worstNanoUsd,
        send: null,
      }
      record.calls.set(call, made)
      keyOf(record, callKey).calls.push(made)
      if (takesOver !== undefined) set(takesOver, 'takenOver', 0n)
      return
    }
    case 'ProviderCallSettled': {
      const { call, costUsd } = event.data
      set(call, 'settled', nano(costUsd))
      const found = record.calls.get(call)
      if (found !== undefined) record.settled.add(found.fingerprint)
      return
    }
    case 'ProviderCallFailed':
      if (event.data.billed === 'unknown') return set(event.data.call, 'held')
      // What was not sent after all, or refused, is not counted any more.
      return set(event.data.call, 'failed', 0n)
    case 'ProviderCallOrphaned':
      return set(event.data.call, 'held')
    case 'ProviderCallReconciled':
      return set(event.data.call, 'reconciled', nano(event.data.costUsd))
    default:
  }
}
