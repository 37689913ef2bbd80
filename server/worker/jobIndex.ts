import type { Content, PlacedEvent } from '../../domain/job/events.ts'

/** What the log says about the sends of one call, by its fingerprint. */
type Sends = {
  /** The `n` of the key a next send carries. */
  n: number
  /** Sends with that key so far, by call number: their outcome is open or unknown. */
  pending: number[]
  /** When the first send with that key was reserved: from then on a provider may remember it. */
  firstAt: string | null
  /** Sends that failed in this attempt of the job, but for those that the provider told to come back later. */
  failures: number
  /** Sends that were told to come back later, or that the one before them is still at work. */
  askedWaits: number
}

/**
 * Everything of a job that grows with the work done, kept by its owner outside the fold: which calls are completed
 * and where their answers stand, which checkpoints there are, what each stage returned. Built when the job is
 * claimed and kept current by the owner's own events.
 */
export type JobIndex = {
  note(event: PlacedEvent): void
  /** Revision of the event with this call's answer, or null. */
  settledAt(fingerprint: string): number | null
  /** Revision of the event with this checkpoint, or null. */
  checkpointAt(stage: string, key: string): number | null
  forgetCheckpoint(stage: string, key: string): void
  isAccepted(stage: string, key: string): boolean
  stageResult(stage: string): Content | null
  sends(fingerprint: string): Readonly<Sends>
  /** When (ms since 1970, as recorded) and how large the reservations of the minute before `now` were. */
  recentCalls(now: number): readonly { readonly at: number; readonly tokens: number }[]
  /** True once somebody resumed the job after it had paused because a paid answer was gone. */
  mayRepeatMissing(): boolean
}

/** The error code of a reservation that was given back without a send: no try was made. */
export const notSentCode = 'not_sent'
/** What a provider that replays by key answers while the first send of that key is still at work. */
export const stillAtWork = 409

/** Rate limits count by the minute. */
const rateWindowMs = 60_000
/** Older calls are dropped whenever the list has doubled. */
const recentCallsMin = 1_000

const place = (stage: string, key: string): string => JSON.stringify([stage, key])
const noSends: Readonly<Sends> = { n: 1, pending: [], firstAt: null, failures: 0, askedWaits: 0 }

export const jobIndex = (): JobIndex => {
  const settled = new Map<string, number>()
  const checkpoints = new Map<string, number>()
  const accepted = new Set<string>()
  const results = new Map<string, { revision: number; content: Content }>()
  const fingerprints = new Map<number, string>()
  const takeovers = new Set<number>()
  const sends = new Map<string, Sends>()

  let recentCallsMax = recentCallsMin
  let recent: { at: number; tokens: number }[] = []
  let pausedForMissing = false
  let repeatsMissing = false

  const close = (call: number): Sends | null => {
    const fingerprint = fingerprints.get(call)
    return fingerprint === undefined ? null : (sends.get(fingerprint) ?? null)
  }

  return {
    settledAt: (fingerprint) => settled.get(fingerprint) ?? null,
    checkpointAt: (stage, key) => checkpoints.get(place(stage, key)) ?? null,
    forgetCheckpoint: (stage, key) => void checkpoints.delete(place(stage, key)),
    isAccepted: (stage, key) => accepted.has(place(stage, key)),
    stageResult: (stage) => results.get(stage)?.content ?? null,
    // One from the far future says that a clock was set, and would hold calls back until that future has come.
    recentCalls: (now) => recent.filter(({ at }) => Math.abs(now - at) < rateWindowMs),
    mayRepeatMissing: () => repeatsMissing,
    sends: (fingerprint) => sends.get(fingerprint) ?? noSends,

    note(event) {
      switch (event.type) {
        case 'ProviderCallReserved': {
          const { call, fingerprint } = event.data
          fingerprints.set(call, fingerprint)
          if (event.data.takesOver !== undefined) takeovers.add(call)
          remember(event.recordedAt, event.data.worstCase)
          const before = sends.get(fingerprint) ?? { n: 1, pending: [], firstAt: null, failures: 0, askedWaits: 0 }
          const firstAt = before.firstAt ?? event.recordedAt
          sends.set(fingerprint, { ...before, firstAt, pending: [...before.pending, call] })
          return
        }
        case 'ProviderCallSettled': {
          const fingerprint = fingerprints.get(event.data.call)
          if (fingerprint === undefined) return
          settled.set(fingerprint, event.revision)
          sends.delete(fingerprint)
          fingerprints.delete(event.data.call)
          return
        }
        case 'ProviderCallFailed': {
          const of = close(event.data.call)
          if (of === null) return
          const isAskedWait = takeovers.delete(event.data.call) && event.data.status === stillAtWork
          if (isAskedWait || event.data.delayReason === 'retry_after') of.askedWaits += 1
          else if (event.data.errorCode !== notSentCode) of.failures += 1
          if (event.data.billed === 'unknown') return
          const wasOnlySend = of.pending.length === 1
          of.pending = of.pending.filter((call) => call !== event.data.call)
          // A provider that stores answers by key would answer a refused key with the same refusal for ever.
          if (wasOnlySend) {
            of.n += 1
            of.firstAt = null
          }
          return
        }
        case 'CheckpointRecorded':
          checkpoints.set(place(event.data.stage, event.data.key), event.revision)
          return
        case 'ExamplesAccepted':
          accepted.add(place(event.data.stage, event.data.key))
          return
        case 'StageCompleted':
          results.set(event.data.stage, { revision: event.revision, content: event.data.result })
          return
        case 'RetryScheduled':
          if (event.data.countsAsAttempt) forgetFailures()
          return
        case 'JobPaused':
          pausedForMissing = event.data.reason === 'artifact_missing'
          return
        case 'JobRetried':
        case 'JobResumed':
          repeatsMissing ||= pausedForMissing
          forgetFailures()
          return
        default:
          return
      }
    },
  }

  function remember(recordedAt: string, worstCase: { inputTokens: number; outputTokens: number }): void {
    const at = Date.parse(recordedAt)
    recent.push({ at, tokens: worstCase.inputTokens + worstCase.outputTokens })
    if (recent.length < recentCallsMax) return
    recent = recent.filter((each) => at - each.at < rateWindowMs)
    recentCallsMax = recent.length * 2 + recentCallsMin
  }

  function forgetFailures(): void {
    for (const each of sends.values()) Object.assign(each, { failures: 0, askedWaits: 0 })
  }
}
