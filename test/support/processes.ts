import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { until } from './until.ts'

/** What `npm run build` made, or another build of the same sources. */
const dist = process.env['KNOVARYN_TEST_DIST'] ?? fileURLToPath(new URL('../../dist', import.meta.url))
const program = `${dist}/server/main.js`
const ownWorker = fileURLToPath(new URL('./processesWorker.mjs', import.meta.url))
const lockHolder = fileURLToPath(new URL('./processesLockHolder.mjs', import.meta.url))

export type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null }

/** A process under test. */
export type Running = {
  readonly pid: number
  stdout(): string
  stderr(): string
  readonly exited: Promise<Exit>
  hasExited(): boolean
  signal(name: NodeJS.Signals): void
  /** Resolves with the line of its standard error or output that fits, once there is one behind the first `after`. */
  line(pattern: RegExp, options?: { withinMs?: number; after?: number }): Promise<string>
  /** How many lines have come so far: `after` for a later `line`. */
  lines(): number
  /** Sends SIGKILL and waits for the end. */
  kill(): Promise<void>
}

type Surroundings = { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string }

const alive = new Set<Running>()

const start = (args: readonly string[], { env = {}, cwd }: Surroundings): Running => {
  const child: ChildProcessByStdio<null, Readable, Readable> = spawn(process.execPath, args, {
    env: { ...cleanEnv(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  })
  const out = { stdout: '', stderr: '' }
  let exit: Exit | null = null
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (out.stderr += text))
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      exit = { code, signal }
      alive.delete(running)
      resolve(exit)
    })
  })
  const allLines = (): readonly string[] => `${out.stderr}\n${out.stdout}`.split('\n').filter((line) => line !== '')
  const running: Running = {
    pid: child.pid ?? -1,
    stdout: () => out.stdout,
    stderr: () => out.stderr,
    exited,
    hasExited: () => exit !== null,
    signal: (name) => void child.kill(name),
    lines: () => allLines().length,
    line: (pattern, { withinMs = 30_000, after = 0 } = {}) =>
      until(
        `a line ${pattern} of process ${child.pid}`,
        () => {
          const found = allLines().slice(after).find((line) => pattern.test(line))
          if (found === undefined && exit !== null) {
            throw new Error(`process ended (${JSON.stringify(exit)}) without a line ${pattern}:\n${out.stderr}${out.stdout}`)
          }
          return found
        },
        { withinMs, everyMs: 2, describe: () => out.stderr },
      ),
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
  alive.add(running)
  return running
}

/** The variables of whoever runs the tests must not steer the program. */
const cleanEnv = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(KNOVARYN_|OPENAI_|ANTHROPIC_|VITEST|NODE_OPTIONS)/.test(name)),
  )

/** Starts Node.js with these arguments. */
export const startNode = (args: readonly string[], around: Surroundings = {}): Running => start(args, around)

/** Starts the command line program. */
export const startKnovaryn = (args: readonly string[], around: Surroundings = {}): Running =>
  start([program, ...args], around)

/** A worker like that of the command line, for what only the library can be told (`drainMs`). */
export const startOwnWorker = (told: { config: unknown; work: unknown }, around: Surroundings = {}): Running =>
  start([ownWorker, dist, JSON.stringify(told)], around)

/** Keeps the write lock of a SQLite file for so long, so often. Says `locked` once it has it, and `released`. */
export const startLockHolder = (file: string, forMs: number, times = 1): Running =>
  start([lockHolder, file, String(forMs), String(times)], {})

/** Runs the command line program to its end. */
export const knovaryn = async (
  args: readonly string[],
  around: Surroundings = {},
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> => {
  const running = startKnovaryn(args, around)
  const { code } = await running.exited
  return { code, stdout: running.stdout(), stderr: running.stderr() }
}

/** Runs it with `--json`, and answers its document. Raises unless it ends with one of these codes. */
export const knovarynJson = async <Document = Readonly<Record<string, unknown>>>(
  args: readonly string[],
  { codes = [0], ...around }: Surroundings & { codes?: readonly number[] } = {},
): Promise<Document> => {
  const { code, stdout, stderr } = await knovaryn([...args, '--json'], around)
  if (code === null || !codes.includes(code)) {
    throw new Error(`knovaryn ${args.join(' ')} ended with ${code}:\n${stderr}\n${stdout}`)
  }
  return JSON.parse(stdout) as Document
}

/** Ends whatever a failed test has left behind, frozen or not. */
export const killAll = async (): Promise<void> => {
  await Promise.all([...alive].map((running) => running.kill()))
}
