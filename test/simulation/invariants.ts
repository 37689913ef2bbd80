import { sha256 } from '../../adapters/system/sha256.ts'
import { committed } from '../../domain/budget.ts'
import type { JobEvent } from '../../domain/job/events.ts'
import { illegality } from '../../domain/job/legal.ts'
import type { StoredEvent } from '../../domain/ports/eventStore.ts'
import { idOfHash, sealHash } from '../../domain/seal.ts'
import { sumsOf } from '../domain/independentLedger.ts'
import { type CallRecord, type JobRecord, keyOf, placeOf } from './jobRecord.ts'
import type { Send } from './provider.ts'
import { nano } from './truth.ts'

/** Says what is wrong, or null. */
type Broken = string | null

/** An event on its way into a record: judged against what stood before it. */
type Arriving = {
  readonly record: JobRecord
  readonly event: JobEvent
  readonly stored: StoredEvent
  readonly world: {
    readonly nowMs: number
    /** When the storm ended, or Infinity. */
    readonly calmSinceMs: number
    isDead(workerId: string): boolean
  }
}

const chainHolds = ({ record, stored }: Arriving): Broken => {
  if (sealHash(stored, record.hash, sha256) !== stored.hash) return 'its hash does not follow from the event before'
  return stored.id === idOfHash(stored.hash) ? null : 'its id is not made of its hash'
}

const revisionsAreGapless = ({ record, stored }: Arriving): Broken =>
  stored.revision === record.revision + 1 ? null : `revision ${stored.revision} follows ${record.revision}`

/** Transitions, fencing, orphans, requests carried out, stages in order, limits at each reservation, one end. */
const isLegal = ({ record, event }: Arriving): Broken => illegality(record.job, event)?.message ?? null

const nothingIsRecordedTwice = ({ record, event }: Arriving): Broken => {
  const place = placeOf(event)
  return place !== null && record.recorded.has(place) ? `${place} stands in the log already` : null
}

const aCommandTakesEffectOnce = ({ record, event }: Arriving): Broken => {
  const append = record.commands.get(event.meta.commandId)
  return append === undefined || append === record.appends ? null : `command ${event.meta.commandId} has a second effect`
}

const aCompletedCallStaysCompleted = ({ record, event }: Arriving): Broken => {
  const fingerprint =
    event.type === 'ProviderCallSettled'
      ? record.calls.get(event.data.call)?.fingerprint
      : event.type === 'ProviderCallReserved'
        ? event.data.fingerprint
        : undefined
  return fingerprint !== undefined && record.settled.has(fingerprint) ? 'that call is completed already' : null
}

const aLeaseIsNotEndedEarly = ({ record, event, world }: Arriving): Broken => {
  const lease = record.job?.lease ?? null
  if (event.type !== 'LeaseExpired' || lease === null) return null
  if (event.data.reason === 'owner_gone') return world.isDead(lease.owner) ? null : `${lease.owner} is not gone`
  const silentMs = world.nowMs - record.ownerLandedAtMs
  return silentMs >= lease.leaseMs ? null : `${lease.owner} was silent for ${silentMs} of ${lease.leaseMs} ms`
}

/** In calm weather a living owner keeps its lease. */
const noLeaseIsLostInCalm = ({ record, event, world }: Arriving): Broken => {
  const owner = record.job?.lease?.owner ?? ''
  return event.type === 'LeaseExpired' && record.claimLandedAtMs > world.calmSinceMs && !world.isDead(owner)
    ? `${owner} is alive, and nothing keeps it from renewing`
    : null
}

/** Before an event is entered. */
export const ofArriving = {
  chainHolds,
  revisionsAreGapless,
  isLegal,
  nothingIsRecordedTwice,
  aCommandTakesEffectOnce,
  aCompletedCallStaysCompleted,
  aLeaseIsNotEndedEarly,
  noLeaseIsLostInCalm,
}

/** settled + held + reserved is within every limit, but for what recorded overruns were above their reservations. */
const staysWithinLimits = (record: JobRecord): Broken => {
  if (record.job === null) return null
  const { limits, money } = record.job
  const total = sumsOf(committed(money))
  const excess = record.ledger.excess()
  const allowed = [
    ['maximumCostUsd', limits.maximumCostUsd === null ? null : nano(limits.maximumCostUsd), total.nanoUsd, excess.nanoUsd],
    ['maximumCalls', limits.maximumCalls, total.calls, excess.calls],
    ['maximumInputTokens', limits.maximumInputTokens, total.inputTokens, excess.inputTokens],
    ['maximumOutputTokens', limits.maximumOutputTokens, total.outputTokens, excess.outputTokens],
    ['maximumExamples', limits.maximumExamples, total.examples, excess.examples],
  ] as const
  const crossed = allowed.find(([, limit, sum, over]) => limit !== null && sum > BigInt(limit) + over)
  return crossed === undefined ? null : `${crossed[0]} ${crossed[1]} is crossed: ${crossed[2]} (overruns: ${crossed[3]})`
}

const theLedgerAddsUp = (record: JobRecord): Broken => {
  if (record.job === null) return null
  const { spent, held, reserved } = record.job.money
  const sums = record.ledger.sums()
  const pairs = [
    ['spent', sumsOf(spent), sums.spent],
    ['held', sumsOf(held), sums.held],
    ['reserved', sumsOf(reserved), sums.reserved],
  ] as const
  const differs = pairs.find(([, folded, added]) => shown(folded) !== shown(added))
  return differs === undefined ? null : `${differs[0]} is folded to ${shown(differs[1])}, its lines add up to ${shown(differs[2])}`
}

const shown = (sums: object): string => Object.values(sums).join(' ')

/** After an event is entered. */
export const ofRecord = { staysWithinLimits, theLedgerAddsUp }

/**
 * Nothing that the provider bills is unknown to the ledger: for each key, what is billed is at most what is settled,
 * held and reserved. What a bill is above its worst case nobody can know before it is read.
 */
const nothingBilledIsUnknown = (record: JobRecord, callKey: string): Broken => {
  const { calls, sends } = keyOf(record, callKey)
  const counted = calls.reduce((sum, call) => sum + call.countedNanoUsd, 0n)
  const worst = calls.reduce((most, call) => (call.worstNanoUsd > most ? call.worstNanoUsd : most), 0n)
  const billed = sends.reduce((sum, { billedNanoUsd }) => sum + (billedNanoUsd < worst ? billedNanoUsd : worst), 0n)
  return billed <= counted ? null : `${billed} nano-USD are billed for ${callKey}, and the ledger counts ${counted}`
}

/** A provider that replays answers by key bills no question twice, under whatever keys it was asked. */
const noCallIsBilledTwice = (record: JobRecord, callKey: string, replays: boolean): Broken => {
  if (!replays) return null
  const fingerprint = callKey.slice(0, callKey.lastIndexOf(':'))
  const keys = [...record.keys].filter(([key]) => key.startsWith(`${fingerprint}:`))
  const billed = keys.flatMap(([, { sends }]) => sends).filter((send) => send.billedNanoUsd > 0n)
  return billed.length > 1 ? `${fingerprint} is billed ${billed.length} times` : null
}

/** A settled call is booked at what the provider has billed for it. */
const aSettledCallIsBookedAsBilled = (record: JobRecord, callKey: string): Broken => {
  const { calls, sends } = keyOf(record, callKey)
  const settled = calls.find((call) => call.state === 'settled')
  const truth = sends[0]?.truth
  if (settled === undefined || truth === undefined) return settled === undefined ? null : 'it is settled and was never sent'
  const expected = truth.reported === null ? settled.worstNanoUsd : truth.billedNanoUsd
  return settled.countedNanoUsd === expected ? null : `call ${settled.call} is booked at ${settled.countedNanoUsd}, not ${expected}`
}

/** Whenever a key's lines in the ledger or in the provider's books have changed. */
export const ofKey = { nothingBilledIsUnknown, noCallIsBilledTwice, aSettledCallIsBookedAsBilled }

/** A request on its way out of a process. */
type Sending = { readonly record: JobRecord; readonly call: CallRecord; readonly send: Send; readonly workerId: string }

const aReservationPermitsOneSend = ({ call }: Sending): Broken =>
  call.send === null ? null : `call ${call.call} was sent already, as ${call.send.number}`

const onlyTheOwnerSends = ({ record, call, workerId }: Sending): Broken => {
  const lease = record.job?.lease ?? null
  if (lease === null) return `nobody owns the job, and ${workerId} sends`
  return lease.token === call.token && lease.owner === workerId
    ? null
    : `${workerId} sends with token ${call.token}; ${lease.owner} owns the job with token ${lease.token}`
}

const aCompletedCallIsNotSentAgain = ({ record, call }: Sending): Broken =>
  record.settled.has(call.fingerprint) ? `call ${call.call} is completed already` : null

/** When a request leaves a process. */
export const ofSending = { aReservationPermitsOneSend, onlyTheOwnerSends, aCompletedCallIsNotSentAgain }
