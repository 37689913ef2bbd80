import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Script } from '../../support/scriptedProvider/script.ts'
import {
  loggedCalls,
  startScriptedProvider,
  type ScriptedProvider,
} from '../../support/scriptedProvider/startScriptedProvider.ts'

let folder: string
let logFile: string
let server: ScriptedProvider
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scripted-provider-'))
  logFile = join(folder, 'calls.jsonl')
})
afterEach(async () => {
  await server.close()
  rmSync(folder, { recursive: true })
})

const start = async (script: Script): Promise<void> => {
  server = await startScriptedProvider(script, { logFile })
}
const post = (key: string, prompt = 'Hello.', signal?: AbortSignal): Promise<Response> =>
  fetch(`${server.baseUrl}/chat/completions`, {
    method: 'POST',
    headers: { 'idempotency-key': key },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: prompt }] }),
    signal: signal ?? null,
  })
const statuses = async (...keys: string[]): Promise<number[]> => {
  const seen: number[] = []
  for (const key of keys) seen.push((await post(key)).status)
  return seen
}

describe('the scripted provider', () => {
  test('answers by the first rule that fits, each condition for itself', async () => {
    await start({
      default: { text: 'default' },
      rules: [
        { when: { call: 1 }, answer: { text: 'first' } },
        { when: { key: 'k' }, answer: { text: 'key' } },
        { when: { promptIncludes: 'sea' }, answer: { text: 'sea' } },
        { when: { callsFrom: 5, callsTo: 6 }, answer: { text: 'late' } },
      ],
    })
    const texts: string[] = []
    for (const [key, prompt] of [['a'], ['k'], ['b', 'by the sea'], ['c'], ['d'], ['e'], ['f']] as const) {
      const { choices } = (await (await post(key, prompt)).json()) as { choices: { message: { content: string } }[] }
      texts.push(choices[0]?.message.content ?? '')
    }
    expect(texts).toEqual(['first', 'key', 'sea', 'default', 'late', 'late', 'default'])
  })

  test('answers each protocol in its own words', async () => {
    await start({ default: { text: 'You said: {{prompt}}' } })
    const asked = { model: 'm', messages: [{ role: 'user', content: 'Hello.' }] }
    const message = await fetch(`${server.baseUrl}/messages`, { method: 'POST', body: JSON.stringify(asked) })
    expect(await message.json()).toMatchObject({
      content: [{ type: 'text', text: 'You said: Hello.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 10, output_tokens: 5 },
    })
    expect(await (await post('a')).json()).toMatchObject({ choices: [{ message: { content: 'You said: Hello.' } }] })
  })

  test('knows the first send of a key, the nth, and how often a rule was used', async () => {
    await start({ rules: [{ when: { firstSendOfKey: true }, answer: { status: 503 } }] })
    expect(await statuses('a', 'a', 'b', 'b')).toEqual([503, 200, 503, 200])
    await server.setScript({ rules: [{ when: { nthOfKey: 2 }, answer: { status: 500 } }] })
    expect(await statuses('a', 'a', 'a')).toEqual([200, 500, 200])
    await server.setScript({ rules: [{ times: 2, answer: { status: 429 } }] })
    expect(await statuses('a', 'b', 'c')).toEqual([429, 429, 200])
  })

  test('repeats an answer for its key, unbilled, where it is declared to, also one that was never delivered', async () => {
    await start({ replay: true, rules: [{ when: { firstSendOfKey: true, key: 'lost' }, answer: { cut: 'before' } }] })
    await expect(post('lost')).rejects.toThrow('fetch failed')
    expect(await (await post('kept')).text()).toBe(await (await post('kept')).text())
    expect((await post('lost')).status).toBe(200)
    expect(await server.stats()).toMatchObject({ received: 4, billed: 2, replayed: 2, keys: 2 })
  })

  test('answers 409 while the first of a key is at work', async () => {
    await start({ replay: true, default: { delayMs: 100 } })
    const first = post('k')
    while ((await server.stats()).atWork === 0) await new Promise(setImmediate)
    expect((await post('k')).status).toBe(409)
    expect((await first).status).toBe(200)
  })

  test('has its log on disk before it answers, and keeps it when it is killed', async () => {
    await start({ rules: [{ when: { key: 'silent' }, answer: { never: true } }] })
    await post('a')
    const silent = post('silent').catch(() => 'gone')
    while (loggedCalls(logFile).length < 2 || loggedCalls(logFile)[1]?.billed !== true) await new Promise(setImmediate)
    await server.kill()
    expect(await silent).toBe('gone')
    expect(loggedCalls(logFile)).toMatchObject([
      { id: 1, idempotencyKey: 'a', prompt: 'Hello.', status: 200, billed: true, replayed: false, delivered: true },
      { id: 2, idempotencyKey: 'silent', answeredAt: null, status: null, billed: true, delivered: null },
    ])
  })

  test('works and bills to the end what its sender has given up', async () => {
    await start({ default: { delayMs: 60 } })
    const stop = new AbortController()
    const gone = post('a', 'Hello.', stop.signal).catch(() => 'gone')
    while ((await server.stats()).atWork === 0) await new Promise(setImmediate)
    stop.abort()
    expect(await gone).toBe('gone')
    while ((await server.stats()).answered === 0) await new Promise(setImmediate)
    expect(await server.calls()).toMatchObject([{ billed: true, delivered: false }])
  })

  test('bills a refusal only where the script says so', async () => {
    await start({ rules: [{ when: { key: 'b' }, answer: { status: 503, billed: true } }], default: { status: 503 } })
    await statuses('a', 'b')
    expect((await server.calls()).map((call) => call.billed)).toEqual([false, true])
  })

  test('answers three hundred calls at a time', async () => {
    await start({ default: { delayMs: 500 } })
    const answers = await Promise.all(Array.from({ length: 300 }, (_, index) => post(`k${index}`)))
    expect(answers.every((answer) => answer.ok)).toBe(true)
    expect(await server.stats()).toMatchObject({ received: 300, billed: 300, keys: 300 })
    expect((await server.stats()).atWorkMax).toBeGreaterThan(50)
  })
})
