import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { runCli } from '../../server/cli/runCli.ts'
import type { Shell, TextOut } from '../../server/cli/shell.ts'
import { openWorkplace } from '../../server/compose.ts'
import { Config } from '../../server/config.ts'
import type { JobDefinition } from '../../server/defineJob.ts'
import type { Engine, Workplace } from '../../server/engine.ts'
import { remoteEngine } from '../../server/remoteEngine.ts'
import { until } from './until.ts'

type Told = { readonly code: number; readonly stdout: string; readonly stderr: string }

/** What any command may print as its one document: a test looks at the fields that its command has. */
type Document = Readonly<Record<string, unknown>> & {
  readonly jobId: string
  readonly revision: number
  readonly budget: object
  readonly items: readonly (Readonly<Record<string, unknown>> & { readonly revision: number })[]
  readonly nextCursor: string | null
  readonly lines: readonly unknown[]
  readonly error: { readonly code: string; readonly message: string }
}

export type CliBench = {
  /** Runs one command line to its end. */
  run(...argv: string[]): Promise<Told>
  /** The same with `--json`: the one document on stdout. */
  json(...argv: string[]): Promise<{ code: number; document: Document; stderr: string }>
  /** Configurations that the commands have opened a store with. */
  readonly opened: Config[]
  readonly engine: Engine
  readonly workplace: Workplace
  /** Resolves once a command at work would hear a signal. */
  heard(): Promise<void>
  /** Resolves once so many calls of the newest job are answered. */
  answers(count: number): Promise<void>
  /** Sends the signal that stops a command at work. */
  interrupt(): void
  /** Path of a new file in a folder of this test alone. */
  file(name: string, content: string | Uint8Array): string
  readonly folder: string
}

/** A command line in this process, on a memory store that outlives its commands. */
export const cliBench = async (
  surroundings: {
    env?: Record<string, string>
    terminal?: boolean
    /** What the offline provider takes for an answer. */
    latencyMs?: number
    /** Job types beside the shipped ones. */
    definitions?: readonly JobDefinition[]
  } = {},
): Promise<CliBench> => {
  const folder = mkdtempSync(join(tmpdir(), 'knovaryn-cli-'))
  const { latencyMs = 0, definitions = [] } = surroundings
  const config = Config.parse({ store: 'memory:', providers: { offline: { latencyMs } } })
  const workplace = await openWorkplace(config, { env: {}, log: () => {}, definitions })
  onTestFinished(async () => {
    await workplace.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const opened: Config[] = []
  const listeners = new Set<() => void>()

  const run = async (...argv: string[]): Promise<Told> => {
    const stdout = textBench(surroundings.terminal ?? false)
    const stderr = textBench(surroundings.terminal ?? false)
    const shell: Shell = {
      program: 'knovaryn',
      env: { KNOVARYN_STORE: 'memory:', ...surroundings.env },
      stdout,
      stderr,
      onSignal(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
      exitNow: () => {},
    }
    const code = await runCli(argv, {
      version: '0.0.0',
      shell,
      async open(configured) {
        opened.push(configured)
        return { ...workplace, close: async () => {} }
      },
      connect: async (server) => remoteEngine(server),
    })
    return { code, stdout: stdout.text(), stderr: stderr.text() }
  }

  return {
    run,
    async json(...argv) {
      const { code, stdout, stderr } = await run(...argv, '--json')
      return { code, document: JSON.parse(stdout) as Document, stderr }
    },
    opened,
    engine: workplace.engine,
    workplace,
    heard: async () => void (await until('a command at work', () => listeners.size > 0)),
    answers: async (count) =>
      void (await until(`${count} answers`, async () => {
        const [job] = (await workplace.engine.list({ limit: 1 })).items
        const { lines } = job === undefined ? { lines: [] } : await workplace.engine.ledger(job.jobId)
        return lines.filter((line) => line.state === 'settled').length >= count
      })),
    interrupt: () => listeners.forEach((listener) => listener()),
    file(name, content) {
      const path = join(folder, name)
      writeFileSync(path, content)
      return path
    },
    folder,
  }
}

const textBench = (isTerminal: boolean): TextOut & { text(): string } => {
  let text = ''
  return {
    isTerminal,
    columns: 80,
    rows: 24,
    write: async (more) => {
      text += more
      return true
    },
    text: () => text,
  }
}

/** The lines of a batch of so many prompts. */
export const promptLines = (count: number): string =>
  Array.from({ length: count }, (_, at) => `${JSON.stringify({ id: `line-${at}`, prompt: `Say something about ${at}.` })}\n`).join('')

export const offline = ['--provider', 'offline', '--model', 'offline-small'] as const
