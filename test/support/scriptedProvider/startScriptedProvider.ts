import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Call, Script, SeenCall, Stats } from './script.ts'

export type ScriptedProvider = {
  /** With its version, such as `http://127.0.0.1:4000/v1`. */
  readonly baseUrl: string
  /** Replaces the script; its calls are counted from 1 again. */
  setScript(script: Script): Promise<void>
  calls(): Promise<readonly SeenCall[]>
  stats(): Promise<Stats>
  /** Kills the server's process at once, as a crash would. */
  kill(): Promise<void>
  close(): Promise<void>
}

/** Starts the server in a process of its own. It ends with this one, however this one ends. */
export const startScriptedProvider = async (
  script: Script = {},
  options: { logFile?: string } = {},
): Promise<ScriptedProvider> => {
  const program = fileURLToPath(new URL('./scriptedProvider.mjs', import.meta.url))
  const log = options.logFile === undefined ? [] : ['--log', options.logFile]
  const child = spawn(process.execPath, [program, ...log], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const first = await new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`the scripted provider ended with ${code} before it listened`)))
    createInterface({ input: child.stdout }).once('line', resolve)
  })
  const { baseUrl } = JSON.parse(first) as { baseUrl: string }
  const origin = new URL(baseUrl).origin
  const get = async (path: string): Promise<unknown> => (await fetch(`${origin}${path}`)).json()
  const setScript = async (next: Script): Promise<void> => {
    const response = await fetch(`${origin}/_script`, { method: 'PUT', body: JSON.stringify(next) })
    const said = await response.text()
    if (!response.ok) throw new Error(said)
  }
  await setScript(script)
  return {
    baseUrl,
    setScript,
    calls: async () => (await get('/_calls')) as readonly SeenCall[],
    stats: async () => (await get('/_stats')) as Stats,
    kill: () => {
      child.kill('SIGKILL')
      return ended
    },
    close: () => {
      child.stdin.end()
      child.kill()
      return ended
    },
  }
}

/** The calls in a log file, each as it stood last: also those of a server that was killed. */
export const loggedCalls = (logFile: string): readonly Call[] => {
  if (!existsSync(logFile)) return []
  const calls = new Map<number, Call>()
  for (const line of readFileSync(logFile, 'utf8').split('\n').filter(Boolean)) {
    const call = JSON.parse(line) as Call
    calls.set(call.id, call)
  }
  return [...calls.values()]
}
