import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startOfflineServer, type OfflineServer } from '../../../adapters/providers/offlineServer.ts'
import { openaiProvider } from '../../../adapters/providers/openai.ts'
import { systemClock } from '../../../adapters/system/systemClock.ts'
import { call, failureOf } from './scriptedHttp.ts'

const clock = systemClock()
const body = JSON.stringify({ model: 'offline-small', messages: call.messages })

let folder: string
let server: OfflineServer
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'offline-server-'))
})
afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

const start = async (options: { latencyMs?: number; replaysForSeconds?: number } = {}): Promise<void> => {
  server = await startOfflineServer({ clock, callLog: join(folder, 'calls.jsonl'), ...options })
}
const post = (key: string, content: string = body): Promise<Response> =>
  fetch(`${server.baseUrl}/chat/completions`, { method: 'POST', headers: { 'idempotency-key': key }, body: content })
const logged = () =>
  readFileSync(join(folder, 'calls.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe('the offline server', () => {
  test('logs a line for what it received and one for what it answered, before it answers', async () => {
    await start()
    await post('job:a:1')
    const entry = { call: 1, idempotencyKey: 'job:a:1', fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) }
    const at = expect.stringMatching(/^\d{4}-.*Z$/)
    const usage = { prompt_tokens: expect.any(Number), completion_tokens: expect.any(Number) }
    expect(logged()).toEqual([
      { kind: 'received', ...entry, at },
      { kind: 'answered', ...entry, at, status: 200, usage, billed: true, replayed: false },
    ])
  })

  test('works and bills each send of a key anew where it was not declared to replay', async () => {
    await start()
    await post('job:a:1')
    await post('job:a:1')
    expect(logged().filter((line) => line.billed)).toHaveLength(2)
  })

  test('repeats an answer for its key, unbilled, where it was declared to', async () => {
    await start({ replaysForSeconds: 60 })
    const first = await (await post('job:a:1')).text()
    expect(await (await post('job:a:1')).text()).toBe(first)
    expect(logged().filter((line) => line.kind === 'answered')).toMatchObject([
      { billed: true, replayed: false },
      { billed: false, replayed: true },
    ])
  })

  test('answers 409 for a key that is at work, and 422 for one with another body', async () => {
    await start({ latencyMs: 150, replaysForSeconds: 60 })
    const first = post('job:a:1')
    // The first was received once its line is there.
    while (readLines() === 0) await new Promise(setImmediate)
    expect((await post('job:a:1')).status).toBe(409)
    expect((await post('job:a:1', body.replace('Say', 'Do'))).status).toBe(422)
    expect((await first).status).toBe(200)
  })

  test('bills what it was sent although the sender has gone', async () => {
    await start({ latencyMs: 50 })
    const provider = openaiProvider({ baseUrl: server.baseUrl, clock })
    const sending = { signal: new AbortController().signal, idempotencyKey: 'job:a:1', deadlineMs: 25 }
    expect(await failureOf(provider.complete(call, sending))).toMatchObject({ code: 'timeout', billed: 'unknown' })
    while (readLines() < 2) await new Promise(setImmediate)
    expect(logged()[1]).toMatchObject({ kind: 'answered', billed: true })
  })

  test.each([
    '',
    'null',
    '{}',
    '{"model":"m","messages":[]}',
    '{"model":"m","messages":[{"role":"tool","content":""}]}',
  ])('refuses the body %j with 400, unbilled', async (content) => {
    await start()
    expect((await post('k', content)).status).toBe(400)
    expect(logged()[1]).toMatchObject({ status: 400, billed: false })
  })

  test('serves nothing else', async () => {
    await start()
    expect((await fetch(`${server.baseUrl}/models`)).status).toBe(404)
  })
})

const readLines = (): number => {
  try {
    return logged().length
  } catch {
    return 0
  }
}
