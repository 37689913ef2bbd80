import type { ProtocolStreams, Workplace } from '../engine.ts'
import type { Call, Log, Run } from './call.ts'
import { type ExitCode, exitCode } from './exitCode.ts'
import { interruption } from './interruption.ts'
import { wholeLog } from './logText.ts'
import { protocolStreams } from './protocolStreams.ts'
import { withWorkplace } from './store.ts'

/** Tools for one agent, over standard input and output, until it goes away or a signal comes. */
export const serveMcp: Run = (call) => {
  const log = wholeLog(call.shell.stderr)
  // Before the store is opened: whatever that loads may want to say something.
  const streams = protocolStreams()
  return withWorkplace(call, (workplace) => served(workplace, { call, log, streams }), log)
}

type Serving = { readonly call: Call; readonly log: Log; readonly streams: ProtocolStreams }

const served = async ({ mcp }: Workplace, { call, log, streams }: Serving): Promise<ExitCode> => {
  const info = (message: string): void => log({ level: 'info', message })
  const stop = interruption(call.shell, 'ending: what was asked is still answered; once more to quit at once', info)
  info(`serving jobs of ${call.config.store} to an agent`)
  try {
    await mcp(streams, stop.signal)
  } finally {
    stop.end()
  }
  info(stop.signal.aborted ? 'ended' : 'the agent has gone')
  return exitCode.done
}
