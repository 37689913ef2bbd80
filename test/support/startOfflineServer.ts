import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const dist = process.env['KNOVARYN_TEST_DIST'] ?? fileURLToPath(new URL('../../dist', import.meta.url))

/** The offline provider behind HTTP, compiled, in a process of its own that lives through all tests of a file. */
export const startOfflineServer = async (options: { callLog: string; latencyMs: number; replaysForSeconds: number }) => {
  const args = [
    ...[`${dist}/adapters/providers/offlineServerProcess.js`, '--call-log', options.callLog],
    ...['--latency-ms', String(options.latencyMs), '--replays-for-seconds', String(options.replaysForSeconds)],
  ]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const line = await new Promise<string>((resolve) => createInterface({ input: child.stdout }).once('line', resolve))
  const { baseUrl } = JSON.parse(line) as { baseUrl: string }
  return {
    baseUrl,
    async close() {
      child.stdin.end()
      await ended
    },
  }
}
