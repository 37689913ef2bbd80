import type { WriteStream } from 'node:tty'
import { StoreUnavailable } from '../../domain/errors.ts'
import { calledAs } from './calledAs.ts'
import type { Shell, TextOut } from './shell.ts'

/** The real process. */
export const processShell = (): Shell => ({
  program: calledAs(process.argv[1] ?? 'knovaryn'),
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
  let ended: 'reader is gone' | StoreUnavailable | null = null
  // Without a listener a broken pipe would end the process; every write hears of its own error besides.
  stream.on('error', () => {})
  return {
    isTerminal: stream.isTTY && process.env['TERM'] !== 'dumb',
    get columns() {
      // A terminal that does not tell its size says 0.
      return stream.columns > 0 ? stream.columns : 80
    },
    get rows() {
      return stream.rows > 0 ? stream.rows : 24
    },
    write: (text) =>
      new Promise((resolve, reject) => {
        if (ended === 'reader is gone') return resolve(false)
        if (ended !== null) return reject(ended)
        stream.write(text, (error) => {
          if (error === null || error === undefined) return resolve(true)
          const code = 'code' in error ? String(error.code) : ''
          if (code === 'EPIPE' || code === 'ERR_STREAM_DESTROYED') {
            ended = 'reader is gone'
            return resolve(false)
          }
          ended = new StoreUnavailable(`${name} cannot be written (${code})`, { cause: code })
          reject(ended)
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
  get rows() {
    return out.rows
  },
  write: (text) => out.write(text).catch(() => false),
})
