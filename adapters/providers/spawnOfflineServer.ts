import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { jsonField, parsedJson } from './jsonField.ts'
import type { OfflineServer } from './offlineServer.ts'

/**
 * Starts the compiled offline server in a process of its own, so that a kill of this one leaves its answers and its
 * bill alone until stdin closes. Resolves once it listens; `close` ends it and waits for that.
 */
export const spawnOfflineServer = async (options: {
  callLog: string
  latencyMs?: number
  replaysForSeconds?: number
}): Promise<OfflineServer> => {
  const child = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('./offlineServerProcess.js', import.meta.url)),
      ...['--call-log', options.callLog],
      ...['--latency-ms', String(options.latencyMs ?? 0)],
      ...['--replays-for-seconds', String(options.replaysForSeconds ?? 0)],
    ],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`the offline server ended with ${code} before it listened`)))
    createInterface({ input: child.stdout }).once('line', (line) => {
      const url = jsonField(parsedJson(line), 'baseUrl')
      if (typeof url === 'string') resolve(url)
      else reject(new Error(`the offline server said "${line}"`))
    })
  })
  return {
    baseUrl,
    close: async () => {
      child.stdin.end()
      await ended
    },
  }
}
