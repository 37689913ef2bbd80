import type { WriteStream } from 'node:tty'
import { StoreUnavailable } from '../../domain/errors.ts'
import type { Shell, TextOut } from './shell.ts'

/** The real process. */
export const processShell = (): Shell => ({
  env: process.env,
  stdout: textOut(process.stdout, 'standard output'),
  stderr: quiet(textOut(process.stderr, 'standard error')),
  onSignal: (listener) => {
    process.on('SIGINT', listener)
    process.on('SIGTERM', listener)
    return () => {
      process.off('SIGINT', listener)
      process.off('SIGTERM', listener)
    }
  },
  exitNow: (code) => process.exit(code),
})

const textOut = (stream: WriteStream, name: string): TextOut => {
  let readerIsGone = false
  // Without a listener a broken pipe would end the process; every write hears of its own error besides.
  stream.on('error', () => {})
  return {
    isTerminal: stream.isTTY && process.env['TERM'] !== 'dumb',
    get columns() {
      return stream.columns ?? 80
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        if (readerIsGone) return resolve(false)
        stream.write(text, (error) => {
          if (error === null || error === undefined) return resolve(true)
          readerIsGone = true
          const code = 'code' in error ? String(error.code) : ''
          if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') return resolve(false)
          reject(new StoreUnavailable(`${name} cannot be written (${code})`, { cause: code }))
        })
      }),
  }
}

/** What is said beside the result must not fail the work. */
const quiet = (out: TextOut): TextOut => ({
  isTerminal: out.isTerminal,
  get columns() {
    return out.columns
  },
  write: (text) => out.write(text).catch(() => false),
})
