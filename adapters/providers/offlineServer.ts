import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Clock } from '../../domain/ports/clock.ts'
import { offlineCallLog } from './offlineCallLog.ts'
import { offlineReplies, type Reply } from './offlineReplies.ts'

/** A longer body is refused, in bytes. */
const bodyBytesMax = 33_554_432

export type OfflineServer = {
  /** With its version: what `openaiProvider` is given. */
  readonly baseUrl: string
  close(): Promise<void>
}

/**
 * The offline provider behind OpenAI's chat completions, on loopback at a port of the system's choice. A request
 * that was received is worked to its end and billed, whether or not its sender still waits.
 */
export const startOfflineServer = async (options: {
  clock: Clock
  /** JSON Lines file to append to (see `CallLogLine`). Null: none. */
  callLog: string | null
  /** Default 0. */
  latencyMs?: number
  /** How long, in seconds, an answer is repeated for its idempotency key, unbilled. Default 0: never. */
  replaysForSeconds?: number
}): Promise<OfflineServer> => {
  const { clock } = options
  const log = offlineCallLog(options.callLog)
  const reply = offlineReplies({
    clock,
    latencyMs: options.latencyMs ?? 0,
    replaysForMs: (options.replaysForSeconds ?? 0) * 1_000,
  })
  const now = (): string => new Date(clock.now()).toISOString()
  let calls = 0

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
      return send(response, { status: 404, body: { error: { message: 'only POST /v1/chat/completions is served' } } })
    }
    const body = await bodyOf(request)
    if (body === null) {
      return send(response, { status: 413, body: { error: { message: `a body over ${bodyBytesMax} bytes` } } })
    }
    calls += 1
    const idempotencyKey = request.headers['idempotency-key']?.toString() ?? null
    const fingerprint = createHash('sha256').update(body).digest('hex')
    const entry = { call: calls, idempotencyKey, fingerprint }
    log({ kind: 'received', ...entry, at: now() })
    const answer = await reply({ body, idempotencyKey, fingerprint })
    // Before the answer: whoever has it finds its line.
    const { status, usage, billed, replayed } = answer
    log({ kind: 'answered', ...entry, at: now(), status, usage, billed, replayed })
    send(response, answer)
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  return {
    baseUrl: `http://127.0.0.1:${portOf(server.address())}/v1`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

const portOf = (address: string | AddressInfo | null): number => {
  if (address === null || typeof address === 'string') throw new Error('the offline server listens at no port')
  return address.port
}

const bodyOf = async (request: AsyncIterable<Buffer>): Promise<string | null> => {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.byteLength
    if (bytes > bodyBytesMax) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const send = (response: ServerResponse, answer: Pick<Reply, 'status' | 'body'>): void => {
  response.writeHead(answer.status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(answer.body))
}
