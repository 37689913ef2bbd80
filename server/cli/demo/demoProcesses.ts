import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { type Child, type Children } from './children.ts'
import type { DemoFolder } from './demoFolder.ts'
import { latencyMs, leaseSeconds, replaysForSeconds } from './demoSetting.ts'

export const programPath = fileURLToPath(new URL('../../main.js', import.meta.url))
const providerPath = fileURLToPath(new URL('../../../adapters/providers/offlineServerProcess.js', import.meta.url))
const endWithParent = new URL('./endWithParent.js', import.meta.url).href

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
