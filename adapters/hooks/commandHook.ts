import { spawn, type ChildProcess } from 'node:child_process'
import type { Clock } from '../../domain/ports/clock.ts'
import type { CompletionHook, Ending } from '../../domain/ports/completionHook.ts'
import { lastOf } from './lastOf.ts'

export const commandTimeoutMs = 60_000

/**
 * Runs `sh -c command` with the job document as JSON on its standard input, and KNOVARYN_JOB_ID, KNOVARYN_JOB_STATE and
 * KNOVARYN_EVENT_ID beside `env`. Taken is what exits with 0. The try lasts until the command and whatever holds its
 * output are done; after a minute its whole process group is killed. What it has put out is what it said, shortened.
 */
export const commandHook = (options: {
  readonly command: string
  /** All that the command gets to see beside the job: without keys and secrets. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}): CompletionHook => ({
  kind: 'command',
  title: 'command',
  async tell(ending, signal) {
    if (signal.aborted) return { taken: false, said: 'it was cut short', askedMs: null }
    const child = spawn('/bin/sh', ['-c', options.command], {
      env: { ...options.env, ...aboutJob(ending) },
      // A group of its own, so that all of it can be killed, and a Ctrl-C for this program is none for it.
      detached: true,
      stdio: 'pipe',
    })
    // A command need not read what it is told.
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify(ending.job)}\n`)
    const output = lastOf([child.stdout, child.stderr])
    const cut = new AbortController()
    const ended = new AbortController()
    const abort = (): void => cut.abort()
    signal.addEventListener('abort', abort)
    void options.clock.sleep(commandTimeoutMs, ended.signal).then(abort)
    try {
      const failed = await endOf(child, cut.signal)
      if (cut.signal.aborted) killGroup(child)
      const why = child.exitCode === 0 ? '' : (failed ?? howItEnded(child, signal.aborted))
      return { taken: child.exitCode === 0, said: [why, output()].filter((text) => text !== '').join(': '), askedMs: null }
    } finally {
      signal.removeEventListener('abort', abort)
      ended.abort()
    }
  },
})

const aboutJob = ({ eventId, job }: Ending) => ({
  KNOVARYN_JOB_ID: job.jobId,
  KNOVARYN_JOB_STATE: job.state,
  KNOVARYN_EVENT_ID: eventId,
})

/** Resolves when the command is done or `cut` has aborted; with the reason where it could not even begin. */
const endOf = (child: ChildProcess, cut: AbortSignal): Promise<string | null> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(`it cannot be run (${'code' in error ? String(error.code) : error.message})`))
    child.once('close', () => resolve(null))
    cut.addEventListener('abort', () => resolve(null), { once: true })
  })

const killGroup = (child: ChildProcess): void => {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // All of it has ended already.
  }
  // Whoever has left the group may hold these open for good.
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy()
  child.unref()
}

const howItEnded = ({ exitCode, signalCode }: ChildProcess, wasCut: boolean): string => {
  if (exitCode !== null) return `exit code ${exitCode}`
  if (signalCode !== null) return `ended by ${signalCode}`
  return wasCut ? 'it was cut short' : `still running after ${commandTimeoutMs / 1_000} s: killed`
}
