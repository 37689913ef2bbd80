import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import type { Readable } from 'node:stream'

export type Child = {
  readonly pid: number
  readonly stdout: Readable
  /** How it ended, in words. */
  readonly ended: Promise<string>
  hasEnded(): boolean
  kill(signal: NodeJS.Signals): void
}

/** The processes that the demo has started. None outlives it, however it ends. */
export type Children = {
  /** Runs this program's Node with these arguments. What it says on stderr goes to the log. */
  start(args: readonly string[]): Promise<Child>
  /** Kills whatever still runs, and waits for its end. */
  end(): Promise<void>
}

export const children = (logPath: string): Children => {
  const all: Child[] = []
  const killAll = (): void => all.forEach((child) => child.kill('SIGKILL'))
  // Also where the process is ended from somewhere else (a second Ctrl-C).
  process.on('exit', killAll)
  return {
    async start(args) {
      const child = await started(args, logPath)
      all.push(child)
      return child
    },
    async end() {
      killAll()
      await Promise.all(all.map((child) => child.ended))
      process.off('exit', killAll)
    },
  }
}

const started = async (args: readonly string[], logPath: string): Promise<Child> => {
  const log = openSync(logPath, 'a')
  try {
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', log], env: ownEnvironment() })
    const pid = await pidOf(child)
    const { stdin, stdout } = child
    if (stdin === null || stdout === null) throw new Error(`process ${pid} has no pipes`)
    let hasEnded = false
    const ended = new Promise<string>((resolve) => {
      child.once('close', (code, signal) => {
        hasEnded = true
        resolve(signal === null ? `exit code ${code}` : `signal ${signal}`)
      })
    })
    // It may be gone when its pipe is closed, or when it is killed.
    stdin.on('error', () => {})
    child.on('error', () => {})
    return {
      pid,
      stdout,
      ended,
      hasEnded: () => hasEnded,
      kill: (signal) => void child.kill(signal),
    }
  } finally {
    closeSync(log)
  }
}

const pidOf = (child: ChildProcess): Promise<number> =>
  new Promise((resolve, reject) => {
    if (child.pid === undefined) child.once('error', reject)
    else resolve(child.pid)
  })

/** The user's own settings of this program must not steer the demo. */
const ownEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(KNOVARYN|OPENAI|ANTHROPIC)_/.test(name)))
