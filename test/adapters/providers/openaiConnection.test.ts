import { createServer, type AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { failureOf, scriptedOpenai } from './scriptedHttp.ts'

const openai = scriptedOpenai()

/** A port at which nobody listens. */
const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

const failingFetch = (cause: Error & { code?: string; syscall?: string; errors?: unknown[] }) => ({
  fetch: () => Promise.reject(new TypeError('fetch failed', { cause })),
})

describe('without a connection nothing is billed', () => {
  test('when it is refused', async () => {
    const baseUrl = `http://127.0.0.1:${await freePort()}/v1`
    const failure = await failureOf(openai.send({ baseUrl }))
    expect(failure).toMatchObject({ code: 'connection_failed', kind: 'transient', billed: 'no', retryable: true })
    expect(failure.message).toBe(`openai at ${baseUrl}: no connection (ECONNREFUSED)`)
  })

  test('when every address of the name refuses', async () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' })
    const all = Object.assign(new AggregateError([refused, refused]), { code: 'ECONNREFUSED' })
    expect(await failureOf(openai.send(failingFetch(all)))).toMatchObject({ code: 'connection_failed', billed: 'no' })
  })

  test('when the name has no address', async () => {
    const failure = await failureOf(openai.send({ baseUrl: 'http://no-such-host.invalid/v1' }))
    expect(failure).toMatchObject({ code: 'connection_failed', kind: 'transient', billed: 'no' })
  })

  test('when it takes too long to come about', async () => {
    const late = Object.assign(new Error('Connect Timeout Error'), { code: 'UND_ERR_CONNECT_TIMEOUT' })
    expect(await failureOf(openai.send(failingFetch(late)))).toMatchObject({ code: 'connection_failed', billed: 'no' })
  })

  test('when the server does not speak TLS: and that is not tried again', async () => {
    const baseUrl = openai.server().baseUrl.replace('http:', 'https:')
    const failure = await failureOf(openai.send({ baseUrl }))
    expect(failure).toMatchObject({ code: 'provider_tls', kind: 'provider', billed: 'no', retryable: false })
  })

  test('when nobody trusts its certificate', async () => {
    const untrusted = Object.assign(new Error('self-signed certificate'), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
    expect(await failureOf(openai.send(failingFetch(untrusted)))).toMatchObject({ code: 'provider_tls', billed: 'no' })
  })
})

describe('OX-03: a connection that breaks after the send may be billed, and the call is sent once', () => {
  test.each(['before', 'headers', 'midBody'] as const)('cut %s', async (cut) => {
    await openai.server().setScript({ default: { cut } })
    const { received } = await openai.server().stats()
    const failure = await failureOf(openai.send())
    expect(failure).toMatchObject({ code: 'connection_cut', kind: 'transient', billed: 'unknown', retryable: true })
    expect((await openai.server().stats()).received).toBe(received + 1)
  })

  test('one of several addresses took the connection and broke it', async () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' })
    const reset = Object.assign(new Error('read'), { code: 'ECONNRESET', syscall: 'read' })
    const failure = await failureOf(openai.send(failingFetch(new AggregateError([refused, reset]))))
    expect(failure).toMatchObject({ code: 'connection_cut', billed: 'unknown' })
  })

  test('a reset whose cause tells nothing', async () => {
    expect(await failureOf(openai.send({ fetch: () => Promise.reject(new TypeError('fetch failed')) }))).toMatchObject({
      code: 'connection_cut',
      billed: 'unknown',
    })
  })

  test('a refusal whose body breaks off is still that refusal', async () => {
    expect(await openai.failure({ status: 429, cut: 'midBody' })).toMatchObject({ code: 'rate_limited', billed: 'no' })
  })
})

describe('OX-02: a call that is given up ends at once, and may be billed', () => {
  test.each([
    ['nothing comes', { never: true }],
    ['the body trickles', { trickle: { bytes: 1, everyMs: 5 } }],
    ['a refusal trickles', { status: 500, trickle: { bytes: 1, everyMs: 5 } }],
  ] as const)('by its deadline, while %s', async (_, behaviour) => {
    const failure = await openai.failure(behaviour, { deadlineMs: 60 })
    expect(failure).toMatchObject({ code: 'timeout', kind: 'transient', billed: 'unknown' })
    expect(failure.message).toContain('60 ms')
  })

  test('by its signal, while the body trickles', async () => {
    const stop = new AbortController()
    await openai.server().setScript({ default: { trickle: { bytes: 1, everyMs: 5 } } })
    const failure = failureOf(openai.send({ signal: stop.signal }))
    while ((await openai.server().stats()).atWork === 0) await new Promise(setImmediate)
    stop.abort()
    expect(await failure).toMatchObject({ code: 'timeout', billed: 'unknown' })
  })

  test('also where fetch itself does not listen', async () => {
    const deaf = { fetch: () => new Promise<Response>(() => undefined), deadlineMs: 10 }
    expect(await failureOf(openai.send(deaf))).toMatchObject({ code: 'timeout', billed: 'unknown' })
  })
})
