import { parseArgs } from 'node:util'
import { startOfflineServer } from './offlineServer.ts'

/**
 * The offline server as a process of its own:
 * `node offlineServerProcess.js [--call-log FILE] [--latency-ms N] [--replays-for-seconds N]`.
 * Prints `{"baseUrl":"…"}` as one line when it listens, and ends when its stdin does: it never outlives its parent.
 */
const { values } = parseArgs({
  options: {
    'call-log': { type: 'string' },
    'latency-ms': { type: 'string', default: '0' },
    'replays-for-seconds': { type: 'string', default: '0' },
  },
})

const server = await startOfflineServer({
  clock: {
    now: () => Date.now(),
    monotonic: () => performance.now(),
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  },
  callLog: values['call-log'] ?? null,
  latencyMs: Number(values['latency-ms']),
  replaysForSeconds: Number(values['replays-for-seconds']),
})

process.stdin.on('end', () => process.exit(0)).resume()
process.stdout.write(`${JSON.stringify({ baseUrl: server.baseUrl })}\n`)
