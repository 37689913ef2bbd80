import type { Readable, Writable } from 'node:stream'
import type { JobId } from '../domain/ids.ts'
import type { JobDocument } from '../domain/job/document.ts'
import type { ArtifactRef, EventType, JobEvent, LimitName, Limits, RaisedLimits, RateLimits, UnknownEvent } from '../domain/job/events.ts'
import type { JobState } from '../domain/job/job.ts'
import type { Usd } from '../domain/money.ts'
import type { ArtifactName } from '../domain/ports/artifactStore.ts'
import type { Clock } from '../domain/ports/clock.ts'
import type { Position } from '../domain/ports/eventStore.ts'
import type { PriceProfile } from '../domain/pricing.ts'
import type { LedgerLine, LedgerTotals } from '../projections/costLedger.ts'
import type { ListedJob } from '../projections/jobList.ts'
import type { Access, Grant } from './access.ts'
import type { SubmittedFile } from './defineJob.ts'
import type { Readiness } from './readiness.ts'
import type { ServeOptions, WorkOptions } from './workOptions.ts'

/**
 * Limits of a job by name; null lifts one. `maximumCostUsd` is a decimal string such as `"2.50"`, so that no binary
 * fraction comes between what is written and what is meant.
 */
export type GivenLimits = Omit<RaisedLimits, 'maximumCostUsd'> & { readonly maximumCostUsd?: string | null | undefined }

/** What a job is to be. Limits that are not given have the defaults of `domain/budget.ts`. */
export type Submission = {
  /** Default `default`. */
  readonly projectId?: string
  readonly type: string
  readonly files?: readonly SubmittedFile[]
  /** For job types that take a value rather than files. */
  readonly input?: unknown
  /** Whom to ask; for jobs that ask nobody, nothing. Without a base URL the one that is configured for the name. */
  readonly provider?: { readonly name: string; readonly baseUrl?: string | null } | null
  readonly model?: string | null
  readonly parameters?: Readonly<Record<string, unknown>>
  readonly target?: number
  readonly limits?: GivenLimits
  readonly rateLimits?: Readonly<Record<string, RateLimits>>
  readonly priceProfiles?: readonly PriceProfile[]
  readonly allowUnpriced?: readonly string[]
  readonly idempotencyKey?: string
  readonly maxAttempts?: number
  readonly callAttempts?: number
  readonly maxLostLeases?: number
  readonly onUnknown?: 'resend' | 'pause'
  readonly concurrency?: number
  readonly priority?: number
  readonly labels?: Readonly<Record<string, string>>
  /** ISO 8601 with an offset. */
  readonly startAfter?: string
  /**
   * What `estimate` has just said of this very submission at worst: shown with the job. Left out, it is worked out as
   * far as the job type tells its calls at submit.
   */
  readonly estimatedCostUsd?: Usd | null
}

/** What is to be reckoned with, and the most it can come to. */
export type Forecast<Value> = { readonly expected: Value; readonly worst: Value }

/** Calls of a job before any is made. */
export type Foreseen = {
  readonly calls: number
  /** The most that the calls may bring. */
  readonly examples: number
  /** At worst null where this process does not have the provider, and so cannot tell how it counts. */
  readonly inputTokens: { readonly expected: number; readonly worst: number | null }
  readonly outputTokens: Forecast<number>
  /** Of the calls that have a price; null where none has, and where the worst case of the tokens is not known. */
  readonly costUsd: Forecast<Usd | null>
  /** At work on calls, by the job's concurrency and the limits of the provider. */
  readonly seconds: Forecast<number>
}

/**
 * What a job is going to take. Plain JSON.
 *
 * The worst case is what the calls would reserve, each sent once: a call whose answer is lost may be billed again, at
 * most `callAttempts` times in all. What is expected is input as the model's tokenizer counts it (four bytes a token
 * where that is not known), and output by `basis`.
 */
export type Estimate = {
  readonly jobId: JobId
  /** Whether a job of that key is there already. */
  readonly existing: boolean
  readonly projectId: string
  readonly type: string
  readonly provider: string | null
  readonly model: string | null
  /** False where the job type does not tell its calls beforehand: then the numbers say nothing. */
  readonly foreseen: boolean
  /**
   * Where the expected length of the answers is from, for the least certain of the calls: the job type itself, the mean
   * of at least twenty answers of the same model in this log, or half of what an answer may have.
   */
  readonly basis: 'definition' | 'history' | 'guess'
  /** Every stage of the job, in order. */
  readonly stages: readonly (Foreseen & { readonly stage: string })[]
  readonly total: Foreseen
  readonly callAttempts: number
  /** Models that were allowed without a price: the cost is without them. */
  readonly unpriced: readonly string[]
  readonly limits: Limits
  /**
   * Limits that the job cannot stay within: by its calls and examples, and by the expected cost and tokens unless these
   * are a guess.
   */
  readonly exceeds: readonly OverLimit[]
  /** Limits that it may come to beside those, and pause: by its worst case, and by the time that is expected. */
  readonly mayExceed: readonly OverLimit[]
}

export type OverLimit = { readonly limit: LimitName; readonly value: number | Usd; readonly maximum: number | Usd }

/** Whoever gives a command; `commandId` makes its repeats known. Both have defaults. */
export type Asker = { readonly actor?: string; readonly commandId?: string }

export type JobListQuery = {
  readonly projectId?: string
  /** Of any of these. */
  readonly projectIds?: readonly string[]
  readonly state?: JobState
  readonly type?: string
  /** `name=value` */
  readonly label?: string
  /** Default 50, at most 500. */
  readonly limit?: number
  /** `nextCursor` of the page before, with the same filter. */
  readonly cursor?: string
}

/** A job as lists show it. */
export type JobInList = Omit<ListedJob, 'fold'>

export type Page<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | null }

export type Reconciliation = {
  readonly call: number
  readonly billed: boolean
  /** What the provider charged; with `billed: false` nothing. Default with `billed: true`: the held worst case. */
  readonly costUsd?: Usd
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly note?: string
}

/** A file that a job leaves, as it is stored in the job's project. */
export type OutputFile = ArtifactRef & { readonly path: string }

export type Ledger = { readonly lines: readonly LedgerLine[]; readonly totals: LedgerTotals }

/** A broken rule in the log, an artifact, or a view. */
export type Finding = {
  readonly rule: string
  readonly message: string
  readonly jobId?: string
  readonly stream?: string
  readonly revision?: number
  readonly position?: string
}

export type AuditReport = {
  readonly jobs: number
  readonly events: number
  readonly artifacts: number
  /** Empty when everything holds. */
  readonly findings: readonly Finding[]
}

export type ProjectionStatus = {
  readonly name: string
  readonly version: number
  readonly position: string | null
  readonly head: string
  readonly upToDate: boolean
  readonly documents: number
  /** What answers queries; stale while a new version is built. */
  readonly served: { readonly version: number; readonly stale: boolean }
}

export type ProjectionCheck = {
  readonly name: string
  readonly version: number
  readonly documents: number
  readonly equal: boolean
  /** The first document that differs from a fresh fold. */
  readonly differs: { readonly key: string; readonly stored: string | null; readonly folded: string | null } | null
}

/** Which events to follow, and from where. All parts must hold. */
export type LiveQuery = {
  /** A position that was given out before; `start`: from the first event; `end` (default): from now on. */
  readonly after?: Position
  /** Handle of one job. */
  readonly jobId?: string
  readonly projectIds?: readonly string[]
  readonly types?: readonly EventType[]
}

/**
 * What is told of the log: each event of the query exactly once and in order, and now and then how far that reaches,
 * counting what the query hid. Whoever asks again with the last position misses nothing and gets nothing twice.
 */
export type LiveFrame =
  | { readonly kind: 'event'; readonly position: Position; readonly event: JobEvent | UnknownEvent }
  | { readonly kind: 'caught_up'; readonly position: Position }

/**
 * Everything people and programs do with jobs, whatever stands between them and the log.
 *
 * Handles are job ids or unique prefixes of one. Raises `JobStateError` (codes `job_state`, `job_not_found`, …),
 * `BudgetExceededError`, `PolicyBlockError`, `IdempotencyConflictError`, `InvalidInputError`, `RevisionConflict`
 * and `StoreUnavailable`, each before anything is written.
 */
export interface Engine {
  /** Idempotent by key: a known key with the same configuration answers with the job that is there. */
  submit(submission: Submission, asker?: Asker): Promise<JobDocument>
  /** The job that has the key of this submission, or null where there is none yet. Writes nothing; raises as `submit` does. */
  find(submission: Submission): Promise<JobDocument | null>
  /**
   * What the job is going to take. Writes nothing. Raises what submitting would, and what the stages before its calls
   * would fail with. With `projectIds`, what earlier answers tell is drawn from these projects alone.
   */
  estimate(submission: Submission, projectIds?: readonly string[]): Promise<Estimate>
  status(handle: string): Promise<JobDocument>
  /** Newest first; each job once, however states change while paging. */
  list(query: JobListQuery): Promise<Page<JobInList>>
  /** In order of revision. */
  events(
    handle: string,
    page?: { afterRevision?: number; limit?: number },
  ): Promise<{ readonly items: readonly (JobEvent | UnknownEvent)[]; readonly nextCursor: string | null }>
  pause(handle: string, asker?: Asker): Promise<JobDocument>
  resume(handle: string, limits?: GivenLimits, asker?: Asker): Promise<JobDocument>
  cancel(handle: string, asker?: Asker): Promise<JobDocument>
  retry(handle: string, asker?: Asker): Promise<JobDocument>
  raiseBudget(handle: string, limits: GivenLimits, asker?: Asker): Promise<JobDocument>
  reconcile(handle: string, reconciliation: Reconciliation, asker?: Asker): Promise<JobDocument>
  ledger(handle: string): Promise<Ledger>
  /** Chain, revisions, legality, limits, ledger and artifacts of one job. */
  audit(handle: string): Promise<AuditReport>
  /** The same for every stream. `progress` is told the events checked so far. */
  verifyLog(options?: { progress?(events: number): void }): Promise<AuditReport>
  projections(): Promise<readonly ProjectionStatus[]>
  rebuild(names: readonly string[], progress?: (done: { name: string; events: number }) => void): Promise<readonly ProjectionStatus[]>
  verifyProjections(names: readonly string[]): Promise<readonly ProjectionCheck[]>
  /**
   * The job, again and again: now, and after each change, until the signal aborts or the job has ended.
   * Ends after a terminal or paused state.
   */
  follow(handle: string, signal: AbortSignal): AsyncIterable<JobDocument>
  /** Where the files of a succeeded job are stored, in order: `getFile` has their bytes. */
  outputFiles(handle: string): Promise<readonly OutputFile[]>
  /** The files of a succeeded job, in order. */
  output(handle: string): AsyncIterable<{ readonly path: string; readonly content: Uint8Array }>
  /**
   * Events as they come, until the signal aborts. Raises `InvalidInputError` (code `foreign_position`) for a position
   * that is not of this log.
   */
  live(query: LiveQuery, signal: AbortSignal): AsyncIterable<LiveFrame>
  /** Stores a file of a project, for submissions that name it by its hash. Durable when this resolves. */
  putFile(projectId: string, content: Uint8Array): Promise<ArtifactName>
  /** Null where the project has no such file: one project's hash is unknown in another. */
  getFile(projectId: string, sha256: string): Promise<Uint8Array | null>
  /** With `projectIds`, jobs of all other projects are as unknown as any that are not there. */
  resolve(handle: string, projectIds?: readonly string[]): Promise<JobId>
  close(): Promise<void>
}

/** The two ends of one client. */
export type ProtocolStreams = { readonly input: Readable; readonly output: Writable }

/** What a workplace stands on, for people who look for the reason of something. */
export type About = {
  /** Kind and place, such as `sqlite:/data/.knovaryn`. */
  readonly store: string
  /** Null where SQLite has no part in it. */
  readonly sqliteVersion: string | null
  /** Folders of stored files and of views; null where they are in memory. */
  readonly artifacts: string | null
  readonly views: string | null
}

/** An engine on a store that is opened in this process, where jobs can also be worked. */
export type Workplace = {
  /** Where everything may be done. */
  readonly engine: Engine
  /** Who may come in. */
  readonly access: Access
  /** The same engine for whoever has come in: it shows and does only what the grant allows, and `close` leaves it open. */
  engineFor(grant: Grant): Engine
  /** The time of the store's host. */
  readonly clock: Clock
  about(): Promise<About>
  /**
   * Works jobs until the signal aborts and open work has ended, or there is nothing left to do (`once`, `only`).
   * Without a signal only those two end it.
   *
   * Unless it works one job only, it also has the hooks of its configuration told of every job that ends or pauses,
   * whoever ended it. That never keeps a job waiting. With `once`, what is due then is told for a minute at most.
   */
  work(options: WorkOptions, signal?: AbortSignal): Promise<void>
  /** Ready: the store was read and written without trouble for ten seconds, and its views reach the end of the log within five. */
  ready(): Promise<Readiness>
  /**
   * Serves others until the signal aborts, and works jobs beside that. Then no new connection is taken, and open requests
   * and jobs end within `drainMs`. Raises `InvalidInputError` for an address that it cannot or must not listen on.
   */
  serve(options: ServeOptions, signal: AbortSignal): Promise<void>
  /**
   * Serves one agent by the Model Context Protocol, which may submit and steer but names providers of the configuration
   * alone, until it has closed its end, is gone, or the signal aborts. What it has asked by then is still answered.
   */
  mcp(streams: ProtocolStreams, signal: AbortSignal): Promise<void>
  /**
   * Tells the hooks of the configuration of the last end or pause of this job, again where it was not taken, for a
   * minute at most or until the signal aborts. What could not be told is logged, and no error.
   */
  tellEnd(jobId: JobId, signal?: AbortSignal): Promise<void>
  close(): Promise<void>
}
