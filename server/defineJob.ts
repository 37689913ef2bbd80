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
  /** True when the answer was in the log already and nothing was sent. */
  readonly recorded: boolean
}

/**
 * What a stage works with. Every verb may raise `Interrupted` when the job is to stop (pause, cancel, drain, lost
 * lease, spent budget): let it pass. What was recorded before it stays recorded.
 */
export type StageContext<Input> = {
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
  checkpoint(key: string, value: unknown): Promise<void>
  /** The value recorded under this key in this stage, or null when there is none. */
  checkpointed(key: string): Promise<{ readonly value: unknown } | null>
  /** Records examples, counted against the job's limit. A known key records nothing. */
  accept(key: string, examples: readonly unknown[]): Promise<void>
  /** What an earlier stage returned. */
  result(stage: string): Promise<unknown>
  /** Stores bytes under their hash. Durable when this resolves. */
  putArtifact(content: Uint8Array, mediaType: string): Promise<ArtifactRef>
  getArtifact(ref: ArtifactRef): Promise<Uint8Array>
  log(level: 'info' | 'warn' | 'error', message: string): Promise<void>
  /** Shown to people; written with the next event. */
  progress(progress: Progress): void
  /** Runs `work` over all items, `concurrency` at a time. The first failure is raised once the others have ended. */
  each<Item>(items: readonly Item[], work: (item: Item, index: number) => Promise<void>): Promise<void>
}

export type Stage<Input> = {
  readonly name: string
  /** What it resolves with is the stage's result: plain JSON. */
  run(context: StageContext<Input>): Promise<unknown>
}

/** A file given at submit, already read. */
export type SubmittedFile = { readonly name: string; readonly content: Uint8Array }

export type Inspected<Input> = {
  /** Refers to the files by their hashes alone. */
  readonly input: Input
  /** The calls the job will make, where they are known beforehand: for prices and the estimate. */
  readonly requests: readonly CallRequest[]
}

export type JobDefinition<Input = unknown> = {
  readonly type: string
  /** Raise it when the same input would be worked otherwise: it is part of what makes two jobs the same. */
  readonly version: number
  readonly input: z.ZodType<Input>
  readonly stages: readonly Stage<Input>[]
  /**
   * Turns submitted files into the job's input, before anything is stored. Raises `InvalidInputError` naming file,
   * line and rule. Absent: the job takes no files.
   */
  inspect?(
    files: readonly { readonly file: SubmittedFile; readonly ref: ArtifactRef }[],
    settings: { readonly model: string | null; readonly parameters: Readonly<Record<string, unknown>> },
  ): Inspected<Input>
  /** The files a finished job leaves, from its last stage's result, in the order they are to be written. */
  files?(output: unknown): readonly { readonly path: string; readonly ref: ArtifactRef }[]
}

/** Checks a job definition. Raises a `TypeError` that names what is wrong. */
export const defineJob = <Input>(definition: JobDefinition<Input>): JobDefinition<Input> => {
  const names = definition.stages.map((stage) => stage.name)
  if (definition.type === '') throw new TypeError('a job definition needs a type')
  if (!Number.isSafeInteger(definition.version) || definition.version < 1) {
    throw new TypeError(`version of job ${definition.type} must be a whole number from 1, not ${definition.version}`)
  }
  if (names.length === 0) throw new TypeError(`job ${definition.type} needs a stage`)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw new TypeError(`job ${definition.type} has two stages named "${twice}"`)
  return definition
}

/** Raised by a stage's verbs when the job is to stop. Not an error of the stage: let it pass. */
export class Interrupted extends Error {
  constructor() {
    super('the job is to stop')
    this.name = 'Interrupted'
  }
}
