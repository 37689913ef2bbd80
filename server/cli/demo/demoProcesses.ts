import { realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { type Child, type Children } from './children.ts'
import type { DemoFolder } from './demoFolder.ts'
import { latencyMs, leaseSeconds, replaysForSeconds } from './demoSetting.ts'

/** The program that is running, wherever it was put together: its other parts stand beside it. */
const programPath = realpathSync(process.argv[1] ?? '')
const beside = (path: string): string => join(dirname(programPath), path)
const providerPath = beside('../adapters/providers/offlineServerProcess.js')
/** Documents that come with the program. */
export const documentsPath = beside('cli/demo/documents')
const endWithParent = pathToFileURL(beside('cli/demo/endWithParent.js')).href

/** The offline provider behind HTTP, in a process of its own: it lives on when a worker dies. */
export const startProvider = async (
  processes: Children,
  folder: DemoFolder,
): Promise<{ readonly process: Child; readonly baseUrl: string }> => {
  const child = await processes.start([
    providerPath,
    ...['--call-log', folder.callLog],
    ...['--latency-ms', String(latencyMs)],
    ...['--replays-for-seconds', String(replaysForSeconds)],
  ])
  const line = await Promise.race([firstLine(child), child.ended.then((how) => Promise.reject(diedEarly(how, folder)))])
  return { process: child, baseUrl: Listening.parse(JSON.parse(line)).baseUrl }
}

const Listening = z.object({ baseUrl: z.url() })

const firstLine = ({ stdout }: Child): Promise<string> =>
  new Promise((resolve) => createInterface({ input: stdout }).once('line', resolve))

const diedEarly = (how: string, { processLog }: DemoFolder): Error =>
  new Error(`the provider's process ended (${how}) before it listened: see ${processLog}`)

/** `knovaryn worker` as a person would start it. */
export const startWorker = async (processes: Children, folder: DemoFolder): Promise<Child> => {
  const child = await processes.start([
    ...['--import', endWithParent],
    programPath,
    'worker',
    ...['--config', folder.config],
    ...['--lease', String(leaseSeconds)],
  ])
  child.stdout.resume()
  return child
}

const drainMs = 5_000

/** As Ctrl-C or a service manager would: the worker drains and leaves. */
export const stopWorker = async (worker: Child): Promise<void> => {
  worker.kill('SIGTERM')
  const late = setTimeout(() => worker.kill('SIGKILL'), drainMs)
  await worker.ended
  clearTimeout(late)
}
