import type { JobDocument } from '../../domain/job/document.ts'
import type { Run } from './call.ts'
import { changeTeller } from './changeTeller.ts'
import { exitCode } from './exitCode.ts'
import { interruption } from './interruption.ts'
import { outcomeOf } from './jobOutcome.ts'
import { jobShown, withScreen } from './jobShown.ts'
import { options } from './options.ts'
import { showJob } from './showJob.ts'
import { withEngine } from './store.ts'

/** Shows a job again with each change, until it ends or pauses. Leaves with the code of that end. */
export const watchJob: Run = (called) => {
  const call = withScreen(called)
  return withEngine(call, async (engine) => {
    const { stdout, stderr } = call.shell
    const jsonl = call.given(options.jsonl) ?? false
    const isDrawn = stdout.isTerminal && stderr.isTerminal && !call.json && !jsonl
    const shown = isDrawn ? jobShown(engine, call) : null
    const changeOf = changeTeller()
    const stop = interruption(call.shell, 'Watching no longer: the job goes on.')
    let last: JobDocument | null = null
    /** False when nobody reads any more. */
    const show = async (job: JobDocument): Promise<boolean> => {
      if (jsonl) return stdout.write(`${JSON.stringify(job)}\n`)
      if (call.json) return true
      if (shown === null) return stdout.write(changeOf(job) ?? '')
      shown.show(job)
      return true
    }
    try {
      for await (const job of engine.follow(call.args[0] ?? '', stop.signal)) {
        last = job
        if (!(await show(job))) break
      }
    } finally {
      await shown?.end()
      stop.end()
    }
    if (last === null) return exitCode.interrupted
    if (!jsonl) await showJob(last, call)
    return outcomeOf(last)
  })
}
