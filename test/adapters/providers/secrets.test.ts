import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { redaction } from '../../../adapters/providers/redaction.ts'
import { failureOf, protocols, scriptedHttp, scriptedOpenai } from './scriptedHttp.ts'

const openai = scriptedOpenai()
const apiKey = 'sk-TESTSECRET123'
const everything = (fault: unknown): string => inspect(fault, { depth: 10, showHidden: true }) + JSON.stringify(fault)

describe.each(protocols)('OX-13: the key is in no error of %s', (_name, providerOf) => {
  const server = scriptedHttp(providerOf)

  test.each([
    ['a 401 that echoes it', { status: 401, body: { json: { error: { message: 'Wrong key: {{authorization}}' } } } }],
    ['a 503 that echoes it', { status: 503, body: { raw: '{{authorization}} {{authorization}}' } }],
    ['a 200 that is no JSON', { body: { raw: '{{authorization}}' } }],
    ['a 200 with an error inside', { body: { json: { error: { code: 500, message: '{{authorization}}' } } } }],
    ['an error code that echoes it', { status: 400, body: { json: { error: { code: '{{authorization}}' } } } }],
    ['a wait that echoes it', { status: 429, headers: { 'Retry-After': '{{authorization}}' } }],
    ['a redirect that echoes it', { redirect: 'http://other.invalid/?key={{authorization}}' }],
    ['a cut connection', { cut: 'before' }],
    ['silence', { never: true }],
  ] as const)('%s', async (_, behaviour) => {
    const failure = await server.failure(behaviour, { apiKey, deadlineMs: 300 })
    expect(everything(failure)).not.toMatch(/TESTSECRET/)
  })

  test('a fault of fetch that tells its headers', async () => {
    const fetch = () => Promise.reject(new TypeError(`Headers.append: "Bearer ${apiKey}" is an invalid header value.`))
    expect(everything(await failureOf(server.send({ apiKey, fetch })))).not.toMatch(/TESTSECRET/)
  })
})

describe('a summary', () => {
  test('hides the key in every spelling, and what looks like one', () => {
    const key = 'key/with+signs="1"'
    const redact = redaction(key)
    for (const spelling of [key, encodeURIComponent(key), btoa(key), JSON.stringify(key)]) {
      expect(redact(`a ${spelling} b`)).not.toContain(spelling)
    }
    expect(redact('Incorrect API key provided: sk-proj-ab**********cd1. Authorization: Bearer abc.def')).toBe(
      'Incorrect API key provided: [redacted] Authorization: Bearer [redacted]',
    )
    expect(redact('GET /v1?api_key=abc&x=1')).toBe('GET /v1?api_key=[redacted]&x=1')
  })

  test('hides no word for the sake of a placeholder key', () => {
    expect(redaction('x')('an axe')).toBe('an axe')
    expect(redaction('')('an axe')).toBe('an axe')
  })

  test('O-15: is cut between characters', async () => {
    const said = (letters: number) => ({
      status: 400,
      body: { json: { error: { message: `${'a'.repeat(letters)}🔥${'b'.repeat(2_048)}` } } },
    })
    const before = 'openai answered 400: '.length
    const through = await openai.failure(said(499 - before))
    expect(through.message).toHaveLength(499)
    expect(through.message).not.toMatch(/\p{Surrogate}/u)
    expect((await openai.failure(said(498 - before))).message).toMatch(/a🔥$/u)
  })

  test('has no control characters, and half a character replaced', async () => {
    const raw = '{"error":{"message":"red \\u001b[31m\\u0000 \\ud83d"}}'
    expect((await openai.failure({ status: 400, body: { raw } })).message).toBe(
      'openai answered 400: red  [31m  \ufffd',
    )
  })
})
