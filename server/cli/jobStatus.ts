import type { Run } from './call.ts'
import { exitCode } from './exitCode.ts'
import { showJob } from './showJob.ts'
import { withEngine } from './store.ts'

export const jobStatus: Run = (call) =>
  withEngine(call, async (engine) => {
    await showJob(await engine.status(call.args[0] ?? ''), call)
    return exitCode.done
  })
