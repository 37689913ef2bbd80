import type { Workplace } from '../engine.ts'
import type { Call, Run } from './call.ts'
import { type ExitCode, exitCode } from './exitCode.ts'
import { interruption } from './interruption.ts'
import { wholeLog } from './logText.ts'
import { options } from './options.ts'
import { present } from './present.ts'
import { withWorkplace } from './store.ts'

/** Works whatever is due, until a signal (it drains, and that is its proper end) or, with `--once`, until nothing is. */
export const workJobs: Run = (call) => withWorkplace(call, (workplace) => worked(workplace, call), wholeLog(call.shell.stderr))

const worked = async ({ work }: Workplace, call: Call): Promise<ExitCode> => {
  const lease = call.given(options.lease)
  const stop = interruption(call.shell, 'Draining: no new jobs, open calls may end. Once more to quit at once.')
  try {
    await work(
      {
        ...present('workerId', call.given(options.workerId)),
        ...present('slots', call.given(options.workerConcurrency)),
        ...present('leaseMs', lease === undefined ? undefined : Math.round(lease * 1_000)),
        ...present('once', call.given(options.once)),
      },
      stop.signal,
    )
  } finally {
    stop.end()
  }
  if (call.json) await call.shell.stdout.write(`${JSON.stringify({ drained: stop.signal.aborted })}\n`)
  return exitCode.done
}
