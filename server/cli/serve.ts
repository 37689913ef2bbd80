import type { Workplace } from '../engine.ts'
import type { Call, Log, Run } from './call.ts'
import { type ExitCode, exitCode } from './exitCode.ts'
import { interruption } from './interruption.ts'
import { wholeLog } from './logText.ts'
import { options } from './options.ts'
import { present } from './present.ts'
import { withWorkplace } from './store.ts'

const hostDefault = '127.0.0.1'
const portDefault = 7_420

/** Serves others and works jobs, until a signal: it drains, and that is its proper end. */
export const serve: Run = (call) => {
  const log = wholeLog(call.shell.stderr)
  return withWorkplace(call, (workplace) => served(workplace, call, log), log)
}

const served = async (workplace: Workplace, call: Call, log: Log): Promise<ExitCode> => {
  const info = (message: string): void => log({ level: 'info', message })
  const stop = interruption(call.shell, 'draining: no new connections and jobs, open ones may end; once more to quit at once', info)
  try {
    await workplace.serve(serveOptionsOf(call, info), stop.signal)
  } finally {
    stop.end()
  }
  info('drained')
  return exitCode.done
}

const serveOptionsOf = (call: Call, info: (message: string) => void): Parameters<Workplace['serve']>[0] => {
  const { given, json, config, shell } = call
  const lease = given(options.lease)
  return {
    host: given(options.host) ?? hostDefault,
    port: given(options.port) ?? portDefault,
    ...present('workers', given(options.workers)),
    ...present('slots', given(options.workerConcurrency)),
    ...present('leaseMs', lease === undefined ? undefined : Math.round(lease * 1_000)),
    ...present('requestsPerMinute', given(options.rateLimit)),
    onListening(url) {
      info(`serving jobs of ${config.store}`)
      void shell.stdout.write(json ? `${JSON.stringify({ url })}\n` : `${url}\n`)
    },
  }
}
