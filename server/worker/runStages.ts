import { InvalidInputError } from '../../domain/errors.ts'
import { stageAtWork } from '../../domain/job/job.ts'
import { isRejection } from '../../domain/rejection.ts'
import { refuseHostile } from '../../domain/strictJson.ts'
import { Interrupted, type JobDefinition } from '../defineJob.ts'
import type { Desk } from './desk.ts'
import { readResult, ResultMissing, stageContext } from './stageContext.ts'

/**
 * Runs the stages from the first without a result to the last, and ends the job in the same append as that one.
 * Raises what a stage raises; a stage whose stored result has vanished is run again first.
 */
export const runStages = async (desk: Desk, definition: JobDefinition): Promise<void> => {
  const { writer, spec } = desk
  const input = checkedInput(definition, await readInput(desk))
  while (writer.job.state === 'running') {
    if (desk.stopping.reason !== null) throw new Interrupted()
    const name = stageAtWork(writer.job)
    if (name === null) {
      await succeed(desk)
      return
    }
    const stage = definition.stages.find((each) => each.name === name)
    if (stage === undefined) throw new Error(`definition of ${spec.type} has no stage "${name}"`)
    try {
      await runStage(desk, name, () => stage.run(stageContext(desk, stage, input)))
    } catch (error) {
      if (!(error instanceof ResultMissing)) throw error
      await desk.calls.allEnded()
      const { ref, reason } = error.missing
      await writer.record({ type: 'InvalidateCheckpoint', stage: error.stage, sha256: ref.sha256, reason })
    }
  }
}

const runStage = async (desk: Desk, name: string, run: () => Promise<unknown>): Promise<void> => {
  const { writer, clock, spec, said } = desk
  const startedAt = new Date(clock.now()).toISOString()
  const began = clock.monotonic()
  const value = await run()
  await desk.calls.allEnded()
  refuseHostile(value, `result of stage ${name}`)
  const result = await desk.contents.keep(value)
  const completed = writer.record({
    type: 'CompleteStage',
    stage: name,
    startedAt,
    durationMs: Math.round(clock.monotonic() - began),
    result,
    progress: said.progress,
  })
  said.progress = undefined
  const isLast = name === spec.stages.at(-1)
  const ended = isLast && desk.stopping.reason === null ? writer.send({ type: 'SucceedJob', output: result }) : null
  // Together: both fail at once where the lease is lost, and one that nobody listens to would end the process. The end
  // is refused where somebody has asked for a pause meanwhile: the job then ends by way of that.
  await Promise.all([completed, ended])
}

/** All stages were done by an attempt that did not live to say so. */
const succeed = async (desk: Desk): Promise<void> => {
  const last = desk.spec.stages.at(-1) ?? ''
  const output = desk.index.stageResult(last)
  if (output === null) throw new Error(`stage "${last}" is completed without a result`)
  const outcome = await desk.writer.send({ type: 'SucceedJob', output })
  if (isRejection(outcome) && desk.stopping.reason === null) throw new Error(outcome.message)
}

const readInput = async (desk: Desk): Promise<unknown> => {
  try {
    return await readResult(desk.contents, 'input', desk.spec.input)
  } catch (error) {
    throw error instanceof ResultMissing ? error.missing : error
  }
}

/** It fitted when it was submitted: this is for a definition that was changed without a new version. */
const checkedInput = (definition: JobDefinition, stored: unknown): unknown => {
  const input = definition.input.safeParse(stored)
  if (input.success) return input.data
  const [issue] = input.error.issues
  const path = ['input', ...(issue?.path.map(String) ?? [])].join('.')
  throw new InvalidInputError(`${path} of job type "${definition.type}": ${issue?.message ?? 'is not valid'}`, { path })
}
