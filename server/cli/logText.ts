import type { Log } from './call.ts'
import { plainText } from './plainText.ts'
import type { TextOut } from './shell.ts'

/** Everything, for a process that is left to itself. */
export const wholeLog =
  (out: TextOut): Log =>
  ({ level, message }) =>
    void out.write(`${new Date().toISOString()} ${level.padEnd(5)} ${plainText(message)}\n`)

/** What somebody who waits for a result should know: nothing while all goes well. */
export const troubleLog =
  (out: TextOut): Log =>
  ({ level, message }) => {
    // A line of progress may stand there.
    const fresh = out.isTerminal ? '\r\u001b[K' : ''
    if (level !== 'info') void out.write(`${fresh}${level}: ${plainText(message)}\n`)
  }
