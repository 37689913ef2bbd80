import type { Workplace } from '../engine.ts'
import type { Call, Log, Run } from './call.ts'
import { type ExitCode, exitCode } from './exitCode.ts'
import { interruption } from './interruption.ts'
import { wholeLog } from './logText.ts'
import { options } from './options.ts'
import { present } from './present.ts'
import { withWorkplace } from './store.ts'

/** Works whatever is due, until a signal (it drains, and that is its proper end) or, with `--once`, until nothing is. */
export const workJobs: Run = (call) => {
  const log = wholeLog(call.shell.stderr)
  return withWorkplace(call, (workplace) => worked(workplace, call, log), log)
}

const worked = async ({ work }: Workplace, call: Call, log: Log): Promise<ExitCode> => {
  const info = (message: string): void => log({ level: 'info', message })
  const lease = call.given(options.lease)
  const stop = interruption(call.shell, 'draining: no new jobs, open calls may end; once more to quit at once', info)
  info(`working jobs of ${call.config.store}`)
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
  info(stop.signal.aborted ? 'drained' : 'nothing is due any more')
  if (call.json) await call.shell.stdout.write(`${JSON.stringify({ drained: stop.signal.aborted })}\n`)
  return exitCode.done
}
