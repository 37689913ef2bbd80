import type { JobDocument } from '../../domain/job/document.ts'
import type { Engine } from '../engine.ts'
import { asker } from './asker.ts'
import type { Call, Run } from './call.ts'
import { exitCode } from './exitCode.ts'
import { givenLimits } from './givenLimits.ts'
import { limitOptions } from './options.ts'
import { showJob } from './showJob.ts'
import { withEngine } from './store.ts'
import { UsageError } from './usageError.ts'

type Steer = (engine: Engine, handle: string, call: Call) => Promise<JobDocument>

const steering =
  (steer: Steer): Run =>
  (call) =>
    withEngine(call, async (engine) => {
      await showJob(await steer(engine, call.args[0] ?? '', call), call)
      return exitCode.done
    })

export const pauseJob = steering((engine, handle) => engine.pause(handle, asker()))
export const cancelJob = steering((engine, handle) => engine.cancel(handle, asker()))
export const retryJob = steering((engine, handle) => engine.retry(handle, asker()))

export const resumeJob = steering((engine, handle, call) => engine.resume(handle, givenLimits(call), asker()))

const raise = steering((engine, handle, call) => engine.raiseBudget(handle, givenLimits(call), asker()))

export const raiseBudget: Run = async (call) => {
  if (Object.keys(givenLimits(call)).length > 0) return raise(call)
  const names = limitOptions.map((option) => `--${option.name}`)
  throw new UsageError('missing_option', `say which limit to raise: ${names.join(', ')}`, { options: names })
}
