import { execFile, fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Another process that runs one verb of `elsewhere.mjs` over the compiled SQLite adapter. */
export type Elsewhere = {
  /** The next message it sends. Rejects when it ends instead. */
  next(): Promise<unknown>
  send(message: string): void
  /** Ends it without a chance to tidy up, and resolves when it has ended. */
  kill(): Promise<void>
}

export type Machine = {
  start(verb: string, ...options: readonly string[]): Elsewhere
  /** Ends whatever still runs. */
  close(): Promise<void>
}

/** Compiles the adapter for processes that have no TypeScript loader. Takes about a second. */
export const machine = async (): Promise<Machine> => {
  const cache = join(root, 'node_modules/.cache')
  await mkdir(cache, { recursive: true })
  // Inside of the repository, so that the driver is found.
  const compiled = await mkdtemp(join(cache, 'knovaryn-sqlite-'))
  const project = fileURLToPath(new URL('tsconfig.json', import.meta.url))
  const compile = promisify(execFile)(join(root, 'node_modules/.bin/tsc'), ['-p', project, '--outDir', compiled])
  await compile.catch(async (error: unknown) => {
    await rm(compiled, { recursive: true, force: true })
    throw error
  })
  const running = new Set<ChildProcess>()

  const end = async (child: ChildProcess): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, 'exit')
    child.kill('SIGKILL')
    await exited
  }

  return {
    start: (verb, ...options) => {
      const child = fork(fileURLToPath(new URL('elsewhere.mjs', import.meta.url)), [compiled, verb, ...options])
      running.add(child)
      const inbox: unknown[] = []
      let wake = (): void => {}
      child.on('message', (message) => {
        inbox.push(message)
        wake()
      })
      child.on('exit', () => wake())
      return {
        next: async () => {
          while (inbox.length === 0) {
            if (child.exitCode !== null || child.signalCode !== null) {
              throw new Error(`${verb} ended with ${child.exitCode ?? child.signalCode}`)
            }
            await new Promise<void>((resolve) => {
              wake = resolve
            })
          }
          return inbox.shift()
        },
        send: (message) => void child.send(message),
        kill: () => end(child),
      }
    },
    close: async () => {
      for (const child of running) await end(child)
      await rm(compiled, { recursive: true, force: true })
    },
  }
}
