import { z } from 'zod'
import { nothing } from '../../domain/budget.ts'
import { InvalidInputError } from '../../domain/errors.ts'
import { jobStream } from '../../domain/ids.ts'
import { type Content, type EventData, type JobSpec, Progress } from '../../domain/job/events.ts'
import { readEvent } from '../../domain/job/readEvent.ts'
import type { CallRequest } from '../../domain/ports/provider.ts'
import { isRejection } from '../../domain/rejection.ts'
import { preview, refuseHostile } from '../../domain/strictJson.ts'
import { type CallAnswer, Interrupted, type Stage, type StageCall, type StageContext } from '../defineJob.ts'
import { ContentMissing, type Contents } from './contents.ts'
import type { Desk } from './desk.ts'
import { each } from './each.ts'
import { fingerprintOf, type KeyedRequest } from './callDesk.ts'
import { onceThereIsRoom } from './onceThereIsRoom.ts'
import { providerCall } from './providerCall.ts'
import { recordedAnswer } from './recordedAnswer.ts'
import { stageVerb } from './stageVerb.ts'

/** A stored result that a stage needs is gone: the stage that made it is to be done again. */
export class ResultMissing extends Error {
  readonly stage: string
  readonly missing: ContentMissing
  constructor(stage: string, missing: ContentMissing) {
    super(`the result of stage ${stage} is gone: ${missing.message}`)
    this.name = 'ResultMissing'
    this.stage = stage
    this.missing = missing
  }
}

const messageLengthMax = 4_000

/** What one stage of one attempt works with. */
export const stageContext = <Input, Checkpoint>(
  desk: Desk,
  { name: stage, checkpoint: schema }: Pick<Stage<Input, Checkpoint>, 'name' | 'checkpoint'>,
  input: Input,
): StageContext<Input, Checkpoint> => {
  const { spec, writer, index, contents, stopping } = desk
  const checkpoints = schema ?? z.custom<Checkpoint>()
  const goOn = (): void => {
    if (stopping.reason !== null) throw new Interrupted()
  }

  const verb = stageVerb(stopping)
  /** What is being recorded, by key: the same key at the same time is recorded once. */
  const recording = new Map<string, Promise<void>>()
  const recordedOnce = (key: string, record: () => Promise<void>): Promise<void> => {
    const begun = recording.get(key) ?? record().finally(() => recording.delete(key))
    recording.set(key, begun)
    return begun
  }

  return {
    jobId: desk.jobId,
    projectId: spec.projectId,
    input,
    model: spec.model,
    parameters: spec.parameters,
    target: spec.target,
    concurrency: spec.concurrency,
    lastAttempt: writer.job.attemptCount >= spec.maxAttempts,
    signal: stopping.soft,

    call: verb(async (call: StageCall) => {
      goOn()
      refuseHostile(call.messages, `messages of call "${call.key}"`)
      return keyedCall(desk, { stage, key: call.key, request: requestOf(spec, call), examples: call.examples ?? 0 })
    }),

    checkpoint: verb((key: string, value: Checkpoint) =>
      recordedOnce(`checkpoint ${key}`, async () => {
        if (index.checkpointAt(stage, key) !== null) return
        fitting(checkpoints, value, `checkpoint "${key}" of stage "${stage}"`)
        refuseHostile(value, `checkpoint ${key}`)
        const kept = await contents.keep(value)
        await writer.record({ type: 'RecordCheckpoint', stage, key, value: kept, progress: desk.said.progress })
        goOn()
      }),
    ),

    checkpointed: verb(async (key: string) => {
      const revision = index.checkpointAt(stage, key)
      if (revision === null) return null
      const { value } = await checkpointEvent(desk, revision)
      try {
        return { value: fitting(checkpoints, await contents.read(value), `checkpoint "${key}" of stage "${stage}"`) }
      } catch (error) {
        if (!(error instanceof ContentMissing)) throw error
        await writer.record({ type: 'InvalidateCheckpoint', stage, sha256: error.ref.sha256, reason: error.reason })
        index.forgetCheckpoint(stage, key)
        return null
      }
    }),

    accept: verb((key: string, examples: readonly unknown[]) =>
      recordedOnce(`examples ${key}`, async () => {
        if (index.isAccepted(stage, key)) return
        refuseHostile(examples, `examples ${key}`)
        const kept = await contents.keep(examples)
        const outcome = await onceThereIsRoom(desk, () => ({
          type: 'AcceptExamples',
          stage,
          key,
          count: examples.length,
          examples: kept,
          progress: desk.said.progress,
        }))
        if (!isRejection(outcome)) return goOn()
        if (outcome.rejected !== 'budget_exhausted') throw new Error(outcome.message)
        const needs = { ...nothing, examples: examples.length }
        const limit = String(outcome.details['limit'])
        stopping.stop({ kind: 'budget_exhausted', exhausted: { limit, needs } })
        throw new Interrupted()
      }),
    ),

    result: <Result>(of: string, as: z.ZodType<Result> = z.custom<Result>()) =>
      verb(async () => {
        const result = index.stageResult(of)
        if (result === null) throw new Error(`stage "${of}" has no result yet`)
        return fitting(as, await readResult(contents, of, result), `result of stage "${of}"`)
      })(),

    putArtifact: verb(contents.putBytes),
    getArtifact: verb(contents.getBytes),

    log: verb(async (level: 'info' | 'warn' | 'error', message: string) => {
      await writer.record({ type: 'LogJob', level, message: preview(message, messageLengthMax) })
      goOn()
    }),

    progress(next) {
      // Checked here: it goes with whatever event is next, the end of the job's attempt too.
      const said = Progress.safeParse(next)
      if (!said.success) throw new InvalidInputError(`progress of stage "${stage}": ${said.error.issues[0]?.message ?? 'is not valid'}`)
      desk.said.progress = said.data
    },

    each: (items, work) => each(items, spec.concurrency, work),
  }
}

/** The value by its schema. Raises `InvalidInputError`: the stage and its schema do not agree. */
const fitting = <Value>(schema: z.ZodType<Value>, value: unknown, what: string): Value => {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const path = [what, ...(issue?.path.map(String) ?? [])].join('.')
  throw new InvalidInputError(`${path}: ${issue?.message ?? 'is not valid'}`, { path })
}

/** Answers from the log, joins the same call where it is open, or makes it. */
const keyedCall = async (desk: Desk, call: KeyedRequest): Promise<CallAnswer> => {
  const { provider } = desk
  if (provider === null) throw new TypeError(`job ${desk.jobId} names no provider: call "${call.key}" cannot be made`)
  const fingerprint = fingerprintOf(desk, call)
  return (
    (await recordedAnswer(desk, fingerprint)) ??
    desk.calls.join(fingerprint, () => providerCall({ ...desk, provider }, call, fingerprint))
  )
}

const requestOf = (spec: JobSpec, call: StageCall): CallRequest => {
  const model = call.model ?? spec.model
  if (model === null) throw new TypeError(`call "${call.key}" names no model, and neither does the job`)
  const byDefault = spec.parameters['maxOutputTokens']
  const { temperature, seed, choices } = call
  const maxOutputTokens = call.maxOutputTokens ?? (typeof byDefault === 'number' ? byDefault : maxOutputTokensDefault)
  // They are factors of the worst case: nothing must be set aside too low.
  for (const [name, count] of Object.entries({ maxOutputTokens, choices: choices ?? 1 })) {
    if (Number.isSafeInteger(count) && count >= 1) continue
    throw new InvalidInputError(`${name} of call "${call.key}" is ${count}, not a whole number from 1`, { call: call.key, name })
  }
  return {
    model,
    messages: call.messages,
    maxOutputTokens,
    ...(temperature === undefined ? {} : { temperature }),
    ...(seed === undefined ? {} : { seed }),
    ...(choices === undefined ? {} : { choices }),
  }
}

/** For a job and a call that name none. */
const maxOutputTokensDefault = 1_024

export const readResult = async (contents: Contents, stage: string, result: Content): Promise<unknown> => {
  try {
    return await contents.read(result)
  } catch (error) {
    throw error instanceof ContentMissing ? new ResultMissing(stage, error) : error
  }
}

const checkpointEvent = async (desk: Desk, revision: number): Promise<EventData<'CheckpointRecorded'>> => {
  const [stored] = await desk.ask(() => desk.events.readStream(jobStream(desk.jobId), { from: revision, limit: 1 }))
  const event = stored === undefined ? undefined : readEvent(stored)
  if (event?.type !== 'CheckpointRecorded') throw new Error(`revision ${revision} of job ${desk.jobId} is no checkpoint`)
  return event.data
}
