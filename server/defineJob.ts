import type { z } from 'zod'
import type { ArtifactRef, Progress } from '../domain/job/events.ts'
import type { Usd } from '../domain/money.ts'
import type { CallRequest, Message } from '../domain/ports/provider.ts'
import type { Usage } from '../domain/pricing.ts'

/** One question to the job's provider, under the caller's own name for it. */
export type StageCall = {
  /** Two calls of a stage with the same key and content share one answer; who wants two gives two keys. */
  readonly key: string
  readonly messages: readonly Message[]
  /** Default: the job's model. */
  readonly model?: string
  /** Default: the job's `maxOutputTokens`. */
  readonly maxOutputTokens?: number
  readonly temperature?: number
  readonly seed?: number
  readonly choices?: number
  /** Examples this call may bring at most, counted against the job's limit while it is open. Default 0. */
  readonly examples?: number
}

export type CallAnswer = {
  readonly text: string
  readonly finishReason: string | null
  /** Null when the provider's numbers could not be: the call was charged at its worst case. */
  readonly usage: Usage | null
  readonly costUsd: Usd
  /** Number of the call in the job's ledger. */
  readonly call: number
  /**
   * What the question is known by, whichever job asks it: the hash of provider, request, stage and key. The middle
   * part of the call's key in the ledger.
   */
  readonly fingerprint: string
  /** True when the answer was in the log already and nothing was sent. */
  readonly recorded: boolean
}

/**
 * What a stage works with. Every verb may raise `Interrupted` when the job is to stop (pause, cancel, drain, lost
 * lease, spent budget): let it pass. What was recorded before it stays recorded.
 */
export type StageContext<Input, Checkpoint = unknown> = {
  readonly jobId: string
  readonly projectId: string
  readonly input: Input
  readonly model: string | null
  readonly parameters: Readonly<Record<string, unknown>>
  readonly target: number | null
  /** Calls of the job that may be open at one time. */
  readonly concurrency: number
  /** True when a failure of this attempt would end the job: no further try is left. */
  readonly lastAttempt: boolean
  /** Aborts when the job is to stop. */
  readonly signal: AbortSignal
  /**
   * Asks the provider, within the job's limits: waits for room, reserves, sends, retries what may be retried, and
   * records the answer before it is handed out. A call that is in the log already is answered from there. Raises
   * `ProviderError` or `PolicyBlockError` when the call has failed for good in this attempt.
   */
  call(call: StageCall): Promise<CallAnswer>
  /** Records a finished piece of the stage. Durable when this resolves; a known key records nothing. */
  checkpoint(key: string, value: Checkpoint): Promise<void>
  /** The value recorded under this key in this stage, or null when there is none. */
  checkpointed(key: string): Promise<{ readonly value: Checkpoint } | null>
  /** Records examples, counted against the job's limit. A known key records nothing. */
  accept(key: string, examples: readonly unknown[]): Promise<void>
  /** What an earlier stage returned, read by the schema where one is given. */
  result(stage: string): Promise<unknown>
  result<Result>(stage: string, schema: z.ZodType<Result>): Promise<Result>
  /** Stores bytes under their hash. Durable when this resolves. */
  putArtifact(content: Uint8Array, mediaType: string): Promise<ArtifactRef>
  getArtifact(ref: ArtifactRef): Promise<Uint8Array>
  log(level: 'info' | 'warn' | 'error', message: string): Promise<void>
  /** Shown to people; written with the next event. */
  progress(progress: Progress): void
  /** Runs `work` over all items, `concurrency` at a time. The first failure is raised once the others have ended. */
  each<Item>(items: readonly Item[], work: (item: Item, index: number) => Promise<void>): Promise<void>
}

export type Stage<Input, Checkpoint = unknown> = {
  readonly name: string
  /** Gives the checkpoints of the stage their type; one that does not fit is refused before it is recorded. */
  readonly checkpoint?: z.ZodType<Checkpoint>
  /** What it resolves with is the stage's result: plain JSON. */
  run(context: StageContext<Input, Checkpoint>): Promise<unknown>
}

/** A file given at submit, already read. */
export type SubmittedFile = { readonly name: string; readonly content: Uint8Array }

/** A call that a job will make, as far as it can be told before anything is spent. */
export type ForeseenCall = {
  readonly stage: string
  readonly request: CallRequest
  /** Output tokens it will most likely take; absent where the definition cannot tell. */
  readonly outputTokens?: number
  /** Examples it may bring. Default 0. */
  readonly examples?: number
}

export type Inspected<Input> = {
  /** Refers to the files by their hashes alone. */
  readonly input: Input
  /** The calls the job will make, where they are known without work: for prices and the estimate. */
  readonly calls: readonly ForeseenCall[]
}

export type JobSettings = {
  readonly model: string | null
  readonly parameters: Readonly<Record<string, unknown>>
  readonly target: number | null
}

export type JobDefinition<Input = unknown, Checkpoints extends readonly unknown[] | [] = readonly unknown[]> = {
  readonly type: string
  /** Raise it when the same input would be worked otherwise: it is part of what makes two jobs the same. */
  readonly version: number
  readonly input: z.ZodType<Input>
  /** In the order they are run. */
  readonly stages: { readonly [Nth in keyof Checkpoints]: Stage<Input, Checkpoints[Nth]> }
  /**
   * Turns submitted files into the job's input, before anything is stored. Raises `InvalidInputError` naming file,
   * line and rule. Absent: the job takes a value and no files.
   */
  inspect?(
    files: readonly { readonly file: SubmittedFile; readonly ref: ArtifactRef }[],
    settings: JobSettings,
  ): Inspected<Input>
  /**
   * The calls the job will make, where telling them takes work on the input: for the estimate alone. Raises what the
   * stages that come before the calls would raise.
   */
  foresee?(input: Input, settings: JobSettings & { read(ref: ArtifactRef): Promise<Uint8Array> }): AsyncIterable<ForeseenCall>
  /** The files a finished job leaves, from its last stage's result, in the order they are to be written. */
  files?(output: unknown): readonly { readonly path: string; readonly ref: ArtifactRef }[]
}

/**
 * Checks a job definition. The types of its input and of each stage's checkpoints follow from the schemas given.
 * Raises a `TypeError` that names what is wrong.
 */
export const defineJob = <Input, Checkpoints extends readonly unknown[] | []>(
  definition: JobDefinition<Input, Checkpoints>,
): JobDefinition<Input> => {
  const stages: readonly Stage<Input>[] = definition.stages
  const names = stages.map((stage) => stage.name)
  if (definition.type === '') throw new TypeError('a job definition needs a type')
  if (!Number.isSafeInteger(definition.version) || definition.version < 1) {
    throw new TypeError(`version of job ${definition.type} must be a whole number from 1, not ${definition.version}`)
  }
  if (names.length === 0) throw new TypeError(`job ${definition.type} needs a stage`)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new TypeError(`job ${definition.type} has two stages named "${twice}"`)
  return { ...definition, stages }
}

/** Raised by a stage's verbs when the job is to stop. Not an error of the stage: let it pass. */
export class Interrupted extends Error {
  constructor() {
    super('the job is to stop')
    this.name = 'Interrupted'
  }
}
