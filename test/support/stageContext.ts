import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { ArtifactRef, Progress } from '../../domain/job/events.ts'
import { Usd } from '../../domain/money.ts'
import { Interrupted, type CallAnswer, type StageCall, type StageContext } from '../../server/defineJob.ts'

type Answered = Pick<CallAnswer, 'text'> & Partial<CallAnswer>

/** What a job's log and artifact store remember between two runs of a stage. */
export type StageLog = {
  readonly answers: Map<string, CallAnswer>
  readonly checkpoints: Map<string, unknown>
  readonly results: Map<string, unknown>
  readonly accepted: Map<string, unknown>
  readonly artifacts: Map<string, Uint8Array>
}

export const stageLog = (): StageLog => ({
  answers: new Map(),
  checkpoints: new Map(),
  results: new Map(),
  accepted: new Map(),
  artifacts: new Map(),
})

/** Stores bytes as a submit would. */
export const stored = (log: StageLog, content: Uint8Array, mediaType = 'application/jsonl'): ArtifactRef => {
  const sha256 = createHash('sha256').update(content).digest('hex')
  log.artifacts.set(sha256, content.slice())
  return { sha256, bytes: content.byteLength, mediaType }
}

export type StageOptions<Input> = Partial<
  Pick<StageContext<Input>, 'model' | 'parameters' | 'target' | 'concurrency' | 'lastAttempt'>
> & {
  readonly input: Input
  readonly log: StageLog
  /** The provider: answers or raises. */
  readonly answer?: (call: StageCall, sent: number) => Answered | Promise<Answered>
  /** After so many sends every verb raises `Interrupted`, as if the worker had been told to stop. */
  readonly sendsMax?: number
}

/** One claim of a job, as its stages see it; `sent` are the calls that reached the provider. */
export const stageContext = <Input, Checkpoint = unknown>(stage: string, options: StageOptions<Input>) => {
  const { log } = options
  const sent: StageCall[] = []
  const progress: Progress[] = []
  const name = (key: string): string => `${stage}\0${key}`
  const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

  const context: StageContext<Input, Checkpoint> = {
    jobId: '0'.repeat(32),
    projectId: 'default',
    input: options.input,
    model: options.model === undefined ? 'small' : options.model,
    parameters: options.parameters ?? {},
    target: options.target ?? null,
    concurrency: options.concurrency ?? 4,
    lastAttempt: options.lastAttempt ?? false,
    signal: new AbortController().signal,
    async call(call) {
      const fingerprint = name(JSON.stringify(call))
      const known = log.answers.get(fingerprint)
      if (known !== undefined) return { ...known, recorded: true }
      if (sent.length >= (options.sendsMax ?? Infinity)) throw new Interrupted()
      sent.push(call)
      const answered = (await options.answer?.(call, sent.length)) ?? { text: `answer to ${call.key}` }
      const answer: CallAnswer = {
        finishReason: 'stop',
        usage: { inputTokens: 10, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 5 },
        costUsd: Usd.parse('0.001'),
        call: log.answers.size + 1,
        fingerprint: createHash('sha256').update(fingerprint).digest('hex'),
        recorded: false,
        ...answered,
      }
      log.answers.set(fingerprint, answer)
      return answer
    },
    async checkpoint(key, value) {
      if (!log.checkpoints.has(name(key))) log.checkpoints.set(name(key), plain(value))
    },
    async checkpointed(key) {
      return log.checkpoints.has(name(key)) ? { value: log.checkpoints.get(name(key)) as Checkpoint } : null
    },
    accept: async (key, examples) => void log.accepted.set(name(key), plain(examples)),
    async result<Result>(of: string, schema: z.ZodType<Result> = z.custom<Result>()) {
      if (!log.results.has(of)) throw new Error(`stage ${of} has no result`)
      return schema.parse(log.results.get(of))
    },
    async putArtifact(content, mediaType) {
      return stored(log, content, mediaType)
    },
    async getArtifact({ sha256 }) {
      const content = log.artifacts.get(sha256)
      if (content === undefined) throw new Error(`no artifact ${sha256}`)
      return content
    },
    log: async () => {},
    progress: (at) => void progress.push(at),
    async each(items, work) {
      const queue = items.entries()
      const faults: unknown[] = []
      const lane = async (): Promise<void> => {
        for (const [index, item] of queue) {
          if (faults.length > 0) return
          await work(item, index).catch((fault: unknown) => faults.push(fault))
        }
      }
      await Promise.all(Array.from({ length: context.concurrency }, lane))
      if (faults.length > 0) throw faults[0]
    },
  }
  return { context, sent, progress }
}
